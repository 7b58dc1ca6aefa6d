import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
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

export const findProject = (db: Db, actor: Actor, id: string) =>
  db.row<ProjectRow>(sql`
    select ${columns} from projects where org_id = ${actor.orgId} and id = ${id} and deleted_at is null`)

export const lockProject = (db: Db, actor: Actor, id: string) =>
  db.row<ProjectRow>(sql`
    select ${columns} from projects where org_id = ${actor.orgId} and id = ${id} and deleted_at is null
    for no key update`)

export const listProjects = (db: Db, actor: Actor, limit: number, after: string | undefined) =>
  db.rows<ProjectRow>(sql`
    select ${columns} from projects
    where org_id = ${actor.orgId} and deleted_at is null ${after === undefined ? empty : sql`and id > ${after}`}
    order by id limit ${limit}`)

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
