import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import { recordEvent } from '../../outbox/record.ts'
import { freeSlug, randomSlug, slugOf } from '../../platform/text/slug.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import type { FilesDeps } from '../deps.ts'
import { requireWritable } from '../access/guards.ts'
import { checkName } from '../tree/names.ts'
import * as queries from './queries.ts'
import type { ProjectRow } from './queries.ts'
import { insertFile, recordChange, recordDeletedFolder } from '../events.ts'
import { lockFile, updateFile } from '../queries.ts'
import type { ProjectCreate, ProjectPatch } from '../schemas.ts'
import { lockForDeletion } from '../tree/queries.ts'
import { removeFile } from '../trash/trash.ts'

export const getProject = async (db: Db, actor: Actor, id: string): Promise<ProjectRow> => {
  const project = await queries.findProject(db, actor, id)
  if (!project) throw notFound('Project')
  return project
}

const insertWithFreeSlug = async (
  db: Transaction,
  actor: Actor,
  project: Omit<queries.NewProject, 'slug'>,
): Promise<ProjectRow> => {
  const named = slugOf(project.name, 'project')
  // A number would tell that a project of this name exists, also one that is not open to the actor.
  const wanted = (await queries.listClosedProjects(db, actor)).length > 0 ? randomSlug(named) : named
  for (;;) {
    const used = await queries.listSlugsLike(db, actor.orgId, wanted)
    const slug = freeSlug(wanted, new Set(used.map((row) => row.slug)))
    const created = await queries.insertProject(db, actor, { ...project, slug })
    // Undefined when another transaction has committed a project with this slug in the meantime.
    if (created) return created
  }
}

/** The subject and the data of an event. Projects belong to the org, not to a workspace. */
const about = ({ id, name, slug, folderId }: ProjectRow) => ({
  subjectId: id,
  workspaceId: null,
  data: { projectId: id, name, slug, folderId },
})

const checkProjectName = (name: string): string => {
  if (name.trim() === '') throw badRequest('name must not be blank')
  return checkName(name)
}

const patchFields = ['name', 'description', 'instructions'] as const satisfies (keyof ProjectPatch)[]

/** Creates a project and its protected folder of the same name in the org's root folder. */
export const createProject = (db: Database, quotas: Quotas, actor: Actor, body: ProjectCreate): Promise<ProjectRow> => {
  const name = checkProjectName(body.name)
  return db.transaction(actor, async (db) => {
    const project = await insertWithFreeSlug(db, actor, {
      id: newId(),
      name,
      description: body.description ?? null,
      instructions: body.instructions ?? null,
      folderId: newId(),
    })
    const { id, folderId } = project
    const place = { parentId: null, projectId: id, guards: null }
    // After the slug, because other transactions may wait for it.
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    await insertFile(db, actor, { id: folderId, source: 'folder', name, ...place, isProtected: true })
    await audit(db, actor, 'project.created', { type: 'project', id, details: { name, slug: project.slug } })
    await recordEvent(db, actor, 'project.created', about(project))
    return project
  })
}

/** Updates a project and renames its folder with it. The slug does not change, because links contain it. */
export const updateProject = (
  db: Database,
  actor: Actor,
  id: string,
  { patch, ifMatch }: { patch: ProjectPatch; ifMatch: string | undefined },
): Promise<ProjectRow> => {
  const named = patchFields.filter((field) => patch[field] !== undefined)
  if (named.length === 0) throw badRequest('The body must name at least one field to change')
  if (patch.name !== undefined) checkProjectName(patch.name)
  return db.transaction(actor, async (db) => {
    const project = requireWritable(await queries.lockProject(db, actor, id), 'Project')
    requireMatch(ifMatch, project)
    const instructions = patch.instructions === undefined ? project.instructions : patch.instructions
    const changes = {
      name: patch.name ?? project.name,
      description: patch.description === undefined ? project.description : patch.description,
      instructions,
      instructionsBy: instructions === project.instructions ? project.instructionsBy : actor.userId,
    }
    const updated = await queries.updateProject(db, actor, id, changes)
    if (!updated) throw notFound('Project')
    if (changes.name !== project.name) {
      const folder = await lockFile(db, actor, project.folderId)
      const renamed = folder && (await updateFile(db, actor, folder.id, { ...folder, name: changes.name }))
      if (renamed) await recordChange(db, actor, { before: renamed, after: renamed }, ['name'])
    }
    await audit(db, actor, 'project.updated', { type: 'project', id, details: { fields: named } })
    const { data, ...subject } = about(updated)
    await recordEvent(db, actor, 'project.updated', { ...subject, data: { ...data, changed: named } })
    return updated
  })
}

/** Deletes a project, and its folder with all contents, which goes to the trash and can be restored as a plain folder. */
export const deleteProject = (
  { db, jobs, config }: Pick<FilesDeps, 'db' | 'jobs' | 'config'>,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const project = requireWritable(await queries.lockProject(db, actor, id), 'Project')
    requireMatch(ifMatch, project)
    const folder = await lockForDeletion(db, actor, project.folderId)
    const removal = { jobs, days: config.retention.trashDays, directUploads: config.directUploads }
    const deleted = folder ? await removeFile(db, actor, folder, removal) : 0
    await queries.softDeleteProject(db, actor, id)
    await audit(db, actor, 'project.deleted', { type: 'project', id, details: { name: project.name, files: deleted } })
    if (folder) await recordDeletedFolder(db, actor, folder, deleted)
    await recordEvent(db, actor, 'project.deleted', about(project))
  })
