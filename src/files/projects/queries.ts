import { mayRead, mayWrite } from '../access/condition-queries.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'

export interface ProjectRow {
  id: string
  name: string
  slug: string
  description: string | null
  instructions: string | null
  /** The author of the current instructions; null when unknown. */
  instructionsBy: string | null
  folderId: string
  createdAt: string
  updatedAt: string
  revision: number
}

const columns = sql`id, name, slug, description, instructions, instructions_by, folder_id, created_at, updated_at, revision`

/** A project is open to those to whom its folder is open. */
const isReadable = (actor: Actor): Sql => sql`exists (
  select from files f where f.org_id = ${actor.orgId} and f.id = p.folder_id and ${mayRead(actor)})`

const isWritable = (actor: Actor): Sql => sql`exists (
  select from files f where f.org_id = ${actor.orgId} and f.id = p.folder_id and ${mayWrite(actor)})`

export const findProject = (db: Db, actor: Actor, id: string) =>
  db.row<ProjectRow>(sql`
    select ${columns} from projects p
    where p.org_id = ${actor.orgId} and p.id = ${id} and p.deleted_at is null and ${isReadable(actor)}`)

export const lockProject = (db: Db, actor: Actor, id: string) =>
  db.row<ProjectRow & { isWritable: boolean }>(sql`
    select ${columns}, ${isWritable(actor)} as is_writable from projects p
    where p.org_id = ${actor.orgId} and p.id = ${id} and p.deleted_at is null and ${isReadable(actor)}
    for no key update of p`)

export const listProjects = (db: Db, actor: Actor, limit: number, after: string | undefined) =>
  db.rows<ProjectRow>(sql`
    select ${columns} from projects p
    where p.org_id = ${actor.orgId} and p.deleted_at is null and ${isReadable(actor)}
      ${after === undefined ? empty : sql`and p.id > ${after}`}
    order by p.id limit ${limit}`)

/** The projects, also deleted ones, that are not open to the actor. */
export const listClosedProjects = (db: Db, actor: Actor) =>
  db.rows<{ id: string }>(sql`
    select p.id from projects p join files f on f.org_id = p.org_id and f.id = p.folder_id
    where p.org_id = ${actor.orgId} and f.guards is not null and not ${mayRead(actor)}`)

/** The slugs of the org's projects that start with this one. */
export const listSlugsLike = (db: Db, orgId: string, slug: string) =>
  db.rows<{ slug: string }>(sql`
    select slug from projects
    where org_id = ${orgId} and deleted_at is null and starts_with(slug, left(${slug}, 50))`)

export interface NewProject {
  id: string
  name: string
  slug: string
  description: string | null
  instructions: string | null
  folderId: string
}

/** Undefined when another transaction has used the slug in the meantime. */
export const insertProject = (db: Db, actor: Actor, project: NewProject) =>
  db.row<ProjectRow>(sql`
    insert into projects (org_id, id, name, slug, description, instructions, instructions_by, folder_id, created_by)
    values (${actor.orgId}, ${project.id}, ${project.name}, ${project.slug}, ${project.description},
      ${project.instructions}, ${actor.userId}, ${project.folderId}, ${actor.userId})
    on conflict (org_id, slug) where deleted_at is null do nothing
    returning ${columns}`)

export interface ProjectChanges {
  name: string
  description: string | null
  instructions: string | null
  instructionsBy: string | null
}

export const updateProject = (db: Db, actor: Actor, id: string, changes: ProjectChanges) =>
  db.row<ProjectRow>(sql`
    update projects
    set name = ${changes.name}, description = ${changes.description}, instructions = ${changes.instructions},
      instructions_by = ${changes.instructionsBy},
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

export const softDeleteProject = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`
    update projects set deleted_at = now(), updated_at = now(), revision = revision + 1
    where org_id = ${actor.orgId} and id = ${id}`)
