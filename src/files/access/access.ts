import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { seesAllWorkspaces } from '../../identity/permissions.ts'
import type { Role } from '../../identity/permissions.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { listGrantees } from '../../identity/grantees/grantees.ts'
import type { Grantees } from '../../identity/grantees/grantees.ts'
import { recordAccess } from '../events.ts'
import * as fileQueries from '../queries.ts'
import type { FileRow, WritableRow } from '../queries.ts'
import { lockForDeletion, lockMoves } from '../tree/queries.ts'
import { hasClosedFolder, lockFolders } from '../tree/tree.ts'
import { hasAllAccess } from './condition-queries.ts'
import type { Access, Reader } from './condition-queries.ts'
import { guardsAbove, inheritGuards, isRestricted, requireWritable } from './guards.ts'
import * as queries from './queries.ts'

/** Whether a reader has access to files with these guards. */
export const isOpenTo = async (
  db: Db,
  reader: Reader,
  guards: readonly (readonly string[] | null)[],
  access: Access,
): Promise<boolean> => {
  const needed = guards.flatMap((one) => one ?? [])
  if (needed.length === 0 || hasAllAccess(reader)) return true
  const open = new Set(await queries.listOpenFolders(db, reader, access))
  return needed.every((guard) => open.has(guard))
}

/**
 * The same as findFile, faster, for the most frequent route: a file outside of restricted folders costs one look-up. A
 * missing file costs the same two statements as one that is not open to the reader, so that the time tells nothing.
 */
export const readFile = async (
  db: Db,
  reader: Reader,
  id: string,
): Promise<(FileRow & { favorite: boolean }) | undefined> => {
  const found = await fileQueries.lookUpFile(db, reader, id)
  if (found === undefined) {
    if (!hasAllAccess(reader)) await queries.listOpenFolders(db, reader, 'read')
    return undefined
  }
  const { targetGuards, ...row } = found
  if ((row.guards === null && targetGuards === null) || hasAllAccess(reader)) return row
  const open = new Set(await queries.listOpenFolders(db, reader, 'read'))
  const isOpen = (guards: string[] | null): boolean => guards?.every((guard) => open.has(guard)) ?? true
  if (!isOpen(row.guards)) return undefined
  return isOpen(targetGuards) ? row : { ...row, targetFileId: null }
}

export interface Grant {
  kind: 'user' | 'workspace' | 'role'
  /** The id of a user or workspace, or a role. */
  subject: string
  access: Access
}

export interface NamedGrant extends Grant {
  /** Null for a workspace that the reader is not in. */
  name: string | null
}

export interface FolderAccess {
  restricted: boolean
  grants: NamedGrant[]
  /** The restricted folders that contain it, outermost first. A reader needs a grant of each. */
  inherited: { folderId: string; name: string; grants: NamedGrant[] }[]
  /** What the reader may do. */
  access: Access
  /** Whether the reader may change it. */
  canManage: boolean
}

const maxGrants = 100
const maxRestricted = 1_000
const roleNames: Record<string, string> = { admin: 'Admins', billing_manager: 'Billing managers', member: 'Members' }

/** Those who may restrict a folder and open it: owners and admins of the org, and who created it, with access to it. */
const mayManage = (actor: Actor, { source, createdBy, isWritable }: WritableRow): boolean =>
  source === 'folder' &&
  isWritable &&
  actor.permissions.has('files:write') &&
  (actor.role === 'owner' || actor.role === 'admin' || createdBy === actor.userId)

const describe = (actor: Actor, row: queries.GrantRow, { users, workspaces }: Grantees): NamedGrant[] => {
  const { userId, workspaceId, role, access } = row
  if (role !== null) return [{ kind: 'role', subject: role, name: roleNames[role] ?? role, access }]
  if (userId !== null) {
    const name = users.get(userId)
    return name === undefined ? [] : [{ kind: 'user', subject: userId, name, access }]
  }
  const name = workspaces.get(workspaceId ?? '')
  if (workspaceId === null || name === undefined) return []
  const isSeen = seesAllWorkspaces(actor.role) || actor.workspaceIds.includes(workspaceId)
  return [{ kind: 'workspace', subject: workspaceId, name: isSeen ? name : null, access }]
}

const readAccess = async (db: Db, actor: Actor, file: WritableRow): Promise<FolderAccess> => {
  const ids = file.guards ?? []
  const [rows, names] =
    ids.length === 0
      ? [[], []]
      : [await queries.listGrants(db, actor.orgId, ids), await queries.listNames(db, actor.orgId, ids)]
  const grantees = await listGrantees(db, actor.orgId, {
    userIds: rows.flatMap(({ userId }) => userId ?? []),
    workspaceIds: rows.flatMap(({ workspaceId }) => workspaceId ?? []),
  })
  const nameOf = new Map(names.map(({ id, name }) => [id, name]))
  const grantsOf = (folderId: string): NamedGrant[] =>
    rows.filter((row) => row.folderId === folderId).flatMap((row) => describe(actor, row, grantees))
  return {
    restricted: isRestricted(file),
    grants: grantsOf(file.id),
    inherited: guardsAbove(file).map((folderId) => ({
      folderId,
      name: nameOf.get(folderId) ?? '',
      grants: grantsOf(folderId),
    })),
    access: file.isWritable ? 'write' : 'read',
    canManage: mayManage(actor, file),
  }
}

/** Who may see a file or folder, by itself and by the folders that contain it. */
export const getAccess = async (db: Db, actor: Actor, id: string): Promise<FolderAccess> => {
  const file = await fileQueries.findFile(db, actor, id)
  if (!file) throw notFound('File')
  return readAccess(db, actor, file)
}

const checkSubject = ({ kind, subject }: Grant): void => {
  if (kind === 'role') {
    if (!Object.hasOwn(roleNames, subject)) throw badRequest('grants: a role must be admin, billing_manager or member')
  } else if (!isUuid(subject)) throw badRequest(`grants: the subject of a ${kind} must be an ID`)
}

const toRow = ({ kind, subject, access }: Grant): queries.NewGrant => ({
  id: newId(),
  userId: kind === 'user' ? subject.toLowerCase() : null,
  workspaceId: kind === 'workspace' ? subject.toLowerCase() : null,
  role: kind === 'role' ? (subject as Role) : null,
  access,
})

const keyOf = ({ userId, workspaceId, role }: queries.NewGrant): string => `${userId} ${workspaceId} ${role}`

/**
 * The grants as rows. Throws BAD_REQUEST for one to somebody who is not in the org, or that is named twice. A workspace that
 * the actor cannot see can be kept, but not added.
 */
const checkGrants = async (
  db: Transaction,
  actor: Actor,
  grants: readonly Grant[],
  before: readonly queries.GrantRow[],
): Promise<queries.NewGrant[]> => {
  if (grants.length > maxGrants) throw badRequest(`grants must have at most ${maxGrants} items`)
  for (const grant of grants) checkSubject(grant)
  const rows = grants.map(toRow)
  if (new Set(rows.map(keyOf)).size < rows.length) throw badRequest('grants must name each subject once')
  const { users, workspaces } = await listGrantees(db, actor.orgId, {
    userIds: rows.flatMap(({ userId }) => userId ?? []),
    workspaceIds: rows.flatMap(({ workspaceId }) => workspaceId ?? []),
  })
  const seen = new Set([...actor.workspaceIds, ...before.flatMap(({ workspaceId }) => workspaceId ?? [])])
  for (const { userId, workspaceId } of rows) {
    if (userId !== null && !users.has(userId)) throw badRequest('grants: a user must be a member of the org')
    if (workspaceId === null) continue
    if (!workspaces.has(workspaceId) || !(seesAllWorkspaces(actor.role) || seen.has(workspaceId))) {
      throw badRequest('grants: a workspace must be one that you can see')
    }
  }
  return rows
}

export interface AccessChange {
  restricted: boolean
  grants: readonly Grant[]
  ifMatch: string | undefined
}

/** Restricts a locked folder or opens it, with everything below it. */
const setRestricted = async (db: Transaction, actor: Actor, file: WritableRow, restricted: boolean): Promise<void> => {
  const { orgId } = actor
  const { areWritable } = await lockFolders(db, actor, file.id)
  if (!areWritable) throw hasClosedFolder()
  if (restricted) {
    if ((await queries.listRestricted(db, orgId)).length >= maxRestricted) {
      throw badRequest(`An org must have at most ${maxRestricted} restricted folders.`)
    }
    await queries.insertRestriction(db, actor, file.id)
  } else await queries.deleteRestriction(db, orgId, file.id)
  const above = guardsAbove(file)
  const guards = restricted ? [...above, file.id] : above
  await queries.setGuards(db, orgId, file.id, guards.length === 0 ? null : guards)
  await inheritGuards(db, orgId, file.id)
}

/**
 * Restricts a folder to people, workspaces and roles, changes whom it is open to, or opens it to everyone who may see the
 * folder that contains it. It applies to everything below it when this returns. Throws NOT_FOUND, BAD_REQUEST for a file
 * or link, grants that are not possible, too many restricted folders, and when the actor would lose the access to change
 * the folder; FORBIDDEN for somebody who may not manage it, CONFLICT when `ifMatch` names another revision.
 */
export const setAccess = (
  database: Database,
  actor: Actor,
  id: string,
  { restricted, grants, ifMatch }: AccessChange,
): Promise<FolderAccess> => {
  if (!restricted && grants.length > 0) throw badRequest('grants need restricted')
  return database.transaction(actor, async (db) => {
    await lockMoves(db, actor)
    const locked = await lockForDeletion(db, actor, id)
    if (!locked) throw notFound('File')
    if (locked.source !== 'folder') throw badRequest('Only a folder can be restricted.')
    const file = requireWritable(await fileQueries.findFile(db, actor, id))
    requireMatch(ifMatch, file)
    if (!mayManage(actor, file)) {
      throw forbidden('Owners and admins of the org and the person who created the folder can change who may see it.')
    }
    const before = await queries.listGrants(db, actor.orgId, [id])
    const rows = await checkGrants(db, actor, grants, before)
    if (restricted === isRestricted(file)) await queries.touch(db, actor.orgId, id)
    else await setRestricted(db, actor, file, restricted)
    if (restricted) {
      await queries.deleteGrants(db, actor.orgId, id)
      await queries.insertGrants(db, actor, id, rows)
      if (!(await queries.isWritable(db, actor, id))) {
        throw badRequest('grants must keep your own access: add yourself, your role or a workspace of yours with write')
      }
    }
    const details = { name: file.name, restricted, grants: grants.map((grant) => ({ ...grant })) }
    await audit(db, actor, 'folder.access-changed', { type: 'file', id, details })
    const changed = requireWritable(await fileQueries.findFile(db, actor, id))
    await recordAccess(db, actor, changed, restricted)
    return readAccess(db, actor, changed)
  })
}

const daily = defineJob<Record<string, never>>('files.delete-forgotten-restrictions', { retryLimit: 2 })

export const registerAccessJobs = (worker: Pick<Jobs, 'work' | 'schedule'>, { db }: { db: Database }): void => {
  worker.work(daily, async () => {
    await queries.deleteForgotten(db)
  })
  worker.schedule(daily, '41 2 * * *')
}
