import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import { freeSlug, slugOf } from '../../platform/text/slug.ts'
import type { Actor, AuditActor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import { cleanName } from '../names.ts'
import { recordWorkspace } from './events.ts'
import { deleteGrantsOfWorkspace } from '../grantees/queries.ts'
import * as memberQueries from './queries.ts'
import { requireStepUp } from '../sign-in/second-factor/step-up.ts'
import * as queries from './workspace-queries.ts'
import type { WorkspaceMemberRow, WorkspaceRow } from './workspace-queries.ts'

export const getWorkspace = async (db: Db, actor: Actor, id: string): Promise<WorkspaceRow> => {
  const workspace = await queries.findWorkspace(db, actor, id)
  if (!workspace) throw notFound('Workspace')
  return workspace
}

/** The ids of the workspaces that a user is in. */
export const listWorkspaceIds = async (db: Db, orgId: string, userId: string): Promise<string[]> =>
  (await queries.listWorkspaceIds(db, orgId, userId)).map(({ workspaceId }) => workspaceId)

const lockWorkspace = async (db: Transaction, actor: Actor, id: string): Promise<WorkspaceRow> => {
  const workspace = await queries.lockWorkspace(db, actor, id)
  if (!workspace) throw notFound('Workspace')
  return workspace
}

/** Creates a workspace and adds `userId` to it, if given. The slug is derived from the name and numbered when in use. */
export const addWorkspace = async (
  db: Transaction,
  actor: AuditActor,
  workspace: { name: string; isDefault: boolean; userId: string | undefined },
): Promise<WorkspaceRow> => {
  const { isDefault, userId } = workspace
  const name = cleanName(workspace.name)
  const wanted = slugOf(name, 'workspace')
  for (;;) {
    const taken = await queries.listSlugsLike(db, actor.orgId, wanted)
    const slug = freeSlug(wanted, new Set(taken.map((row) => row.slug)))
    const created = await queries.insertWorkspace(db, actor.orgId, { id: newId(), name, slug, isDefault })
    // A concurrent transaction inserted the slug after it was read.
    if (!created) continue
    if (userId !== undefined) await queries.insertWorkspaceMember(db, actor.orgId, [created.id], userId)
    await audit(db, actor, 'workspace.created', { type: 'workspace', id: created.id, details: { name, slug } })
    await recordWorkspace(db, actor, 'workspace.created', { workspaceId: created.id, name, slug })
    return created
  }
}

/** Creates a workspace and adds the creator to it. */
export const createWorkspace = (db: Database, actor: Actor, name: string): Promise<WorkspaceRow> =>
  db.transaction(actor, (db) => addWorkspace(db, actor, { name, isDefault: false, userId: actor.userId }))

/** The slug does not change, because links contain it. */
export const renameWorkspace = (
  db: Database,
  actor: Actor,
  id: string,
  change: { name: string; ifMatch: string | undefined },
): Promise<WorkspaceRow> =>
  db.transaction(actor, async (db) => {
    const name = cleanName(change.name)
    const workspace = await lockWorkspace(db, actor, id)
    requireMatch(change.ifMatch, workspace)
    if (name === workspace.name) return workspace
    const renamed = await queries.renameWorkspace(db, actor, id, name)
    if (!renamed) throw notFound('Workspace')
    await audit(db, actor, 'workspace.renamed', { type: 'workspace', id, details: { from: workspace.name, to: name } })
    const data = { workspaceId: renamed.id, name, slug: renamed.slug, changed: ['name'] }
    await recordWorkspace(db, actor, 'workspace.updated', data)
    return renamed
  })

/** Soft-deletes a workspace, which hides what is in it. FORBIDDEN for the default workspace. Needs step-up. */
export const deleteWorkspace = (
  db: Database,
  actor: Actor,
  id: string,
  proof: { stepUpToken: string | undefined; ifMatch: string | undefined },
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const workspace = await lockWorkspace(db, actor, id)
    if (workspace.isDefault) throw forbidden('The default workspace of an org cannot be deleted.')
    await requireStepUp(db, actor, proof.stepUpToken)
    requireMatch(proof.ifMatch, workspace)
    await deleteGrantsOfWorkspace(db, actor.orgId, workspace.id)
    await queries.softDeleteWorkspace(db, actor, id)
    const { id: workspaceId, name, slug } = workspace
    await audit(db, actor, 'workspace.deleted', { type: 'workspace', id, details: { name } })
    await recordWorkspace(db, actor, 'workspace.deleted', { workspaceId, name, slug })
  })

/** Adds a member of the org to the workspace. `added` is false when they were in it before. */
export const addWorkspaceMember = (
  db: Database,
  actor: Actor,
  id: string,
  userId: string,
): Promise<{ added: boolean; member: WorkspaceMemberRow }> =>
  db.transaction(actor, async (db) => {
    const { id: workspaceId } = await lockWorkspace(db, actor, id)
    if (!(await memberQueries.findMemberOfUser(db, actor.orgId, userId))) throw notFound('Member')
    const added = (await queries.insertWorkspaceMember(db, actor.orgId, [id], userId)) > 0
    const member = await queries.findWorkspaceMember(db, actor.orgId, id, userId)
    if (!member) throw notFound('Member')
    if (added) {
      await audit(db, actor, 'workspace.member-added', { type: 'workspace', id, details: { userId } })
      await recordWorkspace(db, actor, 'workspace.member_added', { workspaceId, userId: member.userId })
    }
    return { added, member }
  })

export const removeWorkspaceMember = (db: Database, actor: Actor, id: string, userId: string): Promise<void> =>
  db.transaction(actor, async (db) => {
    const { id: workspaceId } = await lockWorkspace(db, actor, id)
    const removed = isUuid(userId) ? await queries.deleteWorkspaceMember(db, actor.orgId, id, userId) : 0
    if (removed === 0) throw notFound('Member')
    await audit(db, actor, 'workspace.member-removed', { type: 'workspace', id, details: { userId } })
    await recordWorkspace(db, actor, 'workspace.member_removed', { workspaceId, userId: userId.toLowerCase() })
  })
