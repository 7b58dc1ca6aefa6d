import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { freeSlug, slugOf } from '../../platform/text/slug.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { releaseLater } from '../uploads/blobs.ts'
import { checkName } from '../tree/names.ts'
import * as queries from './queries.ts'
import type { ProjectRow } from './queries.ts'
import { insertFile, lockFile, updateFile } from '../queries.ts'
import type { ProjectCreate, ProjectPatch } from '../schemas.ts'
import { lockWhole } from '../tree/queries.ts'
import { deleteTree } from '../tree/tree.ts'

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
  const wanted = slugOf(project.name, 'project')
  for (;;) {
    const taken = await queries.listSlugsLike(db, actor.orgId, wanted)
    const slug = freeSlug(wanted, new Set(taken.map((row) => row.slug)))
    const created = await queries.insertProject(db, actor, { ...project, slug })
    // Undefined: somebody else's project of the same name was committed since the look.
    if (created) return created
  }
}

const checkProjectName = (name: string): string => {
  if (name.trim() === '') throw badRequest('name must not be empty')
  return checkName(name)
}

const patchFields = ['name', 'description', 'instructions'] as const satisfies (keyof ProjectPatch)[]

/** A project and its protected folder of the same name at the root of the org's files. */
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
    const place = { parentId: null, projectId: id }
    // After the slug, for which others may wait.
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    await insertFile(db, actor, { id: folderId, source: 'folder', name, ...place, isProtected: true })
    await audit(db, actor, 'project.created', { type: 'project', id, details: { name, slug: project.slug } })
    return project
  })
}

/** Its folder is renamed with it. Its slug stays: other people's links go by it. */
export const updateProject = (
  db: Database,
  actor: Actor,
  id: string,
  patch: ProjectPatch,
  ifMatch: string | undefined,
): Promise<ProjectRow> => {
  const named = patchFields.filter((field) => patch[field] !== undefined)
  if (named.length === 0) throw badRequest('The body must name at least one field to change')
  if (patch.name !== undefined) checkProjectName(patch.name)
  return db.transaction(actor, async (db) => {
    const project = await queries.lockProject(db, actor, id)
    if (!project) throw notFound('Project')
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
      if (folder) await updateFile(db, actor, folder.id, { ...folder, name: changes.name })
    }
    await audit(db, actor, 'project.updated', { type: 'project', id, details: { fields: named } })
    return updated
  })
}

/** The project goes, and its folder with all that is in it. */
export const deleteProject = (
  db: Database,
  jobs: Pick<Jobs, 'enqueue'>,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const project = await queries.lockProject(db, actor, id)
    if (!project) throw notFound('Project')
    requireMatch(ifMatch, project)
    const folder = await lockWhole(db, actor, project.folderId)
    const deleted = folder ? await deleteTree(db, actor, folder) : 0
    await queries.softDeleteProject(db, actor, id)
    await releaseLater(db, jobs, actor.orgId)
    await audit(db, actor, 'project.deleted', { type: 'project', id, details: { name: project.name, files: deleted } })
  })
