import type { Actor } from '../../identity/actor.ts'
import { may } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { requireWritable } from '../access/guards.ts'
import { withEnds } from './ends.ts'
import { recordShare } from '../events.ts'
import * as fileQueries from '../queries.ts'
import type { FileRow, WritableRow } from '../queries.ts'
import { storedTypes } from '../uploads/mime-types.ts'
import type { HashPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { ListedShareRow, SharePermission, ShareRow, ShareSettings } from './queries.ts'
import { newToken } from './token.ts'

/** The settings of a new share; those that are missing are null. */
export interface ShareInput {
  permission: SharePermission
  password?: string | null | undefined
  expiresAt?: string | null | undefined
  maxDownloads?: number | null | undefined
  maxUploads?: number | null | undefined
  maxFileBytes?: number | null | undefined
  allowedTypes?: string[] | null | undefined
}

export type ShareChange = Omit<ShareInput, 'permission'>

const maxOfOrg = 1_000
const maxOfFile = 100
const defaultUploads = 100

/** `image/*` and the like, of the types that can be stored. */
const kinds: ReadonlySet<string> = new Set([...storedTypes.keys()].map((type) => `${type.split('/', 1)[0]}/*`))

const checkSettings = (permission: SharePermission, change: ShareChange): void => {
  const { expiresAt, maxDownloads, maxUploads, maxFileBytes, allowedTypes } = change
  if (expiresAt != null && Date.parse(expiresAt) <= Date.now()) throw badRequest('expiresAt must be in the future')
  if (maxDownloads != null && permission !== 'download') {
    throw badRequest('maxDownloads needs the permission download')
  }
  if (permission !== 'upload' && (maxUploads ?? maxFileBytes ?? allowedTypes) != null) {
    throw badRequest('maxUploads, maxFileBytes and allowedTypes need the permission upload')
  }
  const unknown = (allowedTypes ?? []).find((type) => !storedTypes.has(type) && !kinds.has(type))
  if (unknown !== undefined)
    throw badRequest('allowedTypes must be types that can be stored, or a kind such as image/*')
}

const settingsOf = (change: ShareChange, before: ShareSettings): ShareSettings => ({
  expiresAt: change.expiresAt === undefined ? before.expiresAt : change.expiresAt,
  maxDownloads: change.maxDownloads === undefined ? before.maxDownloads : change.maxDownloads,
  maxUploads: change.maxUploads === undefined ? before.maxUploads : change.maxUploads,
  maxFileBytes: change.maxFileBytes === undefined ? before.maxFileBytes : change.maxFileBytes,
  allowedTypes: change.allowedTypes === undefined ? before.allowedTypes : change.allowedTypes,
})

const requireShareable = (file: FileRow | undefined): FileRow => {
  if (!file) throw notFound('File')
  if (file.source === 'link') throw badRequest('A link cannot be shared. Share the file that it points to.')
  if (file.status === 'pending') throw conflict('The bytes of this file have not been uploaded yet.')
  return file
}

/** Visitors of such a share read files, so the caller must be able to read them as well. */
const requireRead = (actor: Actor, permission: SharePermission): void => {
  if (permission === 'upload' || may(actor, 'files:read')) return
  throw forbidden('A share to view or download files needs the permission files:read.')
}

const checkFile = (found: WritableRow | undefined, permission: SharePermission): FileRow => {
  const file = requireShareable(requireWritable(found))
  if (permission === 'upload' && file.source !== 'folder') throw badRequest('Only a folder can be shared for uploads.')
  return file
}

const checkCounts = async (db: Db, actor: Actor, fileId: string): Promise<void> => {
  const { ofOrg, ofFile } = await queries.countShares(db, actor, fileId)
  if (ofFile >= maxOfFile) throw badRequest(`A file must have at most ${maxOfFile} shares.`)
  if (ofOrg >= maxOfOrg) throw badRequest(`An org must have at most ${maxOfOrg} shares.`)
}

export interface ShareStore {
  /** Opens the transactions. */
  db: Database
  /** Called for a request that is valid so far, because a hash is expensive. */
  hash: HashPassword
}

/**
 * Creates a share. Returns it with its token, which is not stored. Throws NOT_FOUND, BAD_REQUEST for a link, a file that is
 * not a folder with `upload`, a setting that does not apply or too many shares, CONFLICT for a pending file, FORBIDDEN
 * without the permission to read what is shared, and like `hash`.
 */
export const createShare = async (
  { db: transactions, hash }: ShareStore,
  actor: Actor,
  fileId: string,
  input: ShareInput,
): Promise<{ share: ShareRow; token: string }> => {
  const { permission, password } = input
  requireRead(actor, permission)
  checkSettings(permission, input)
  if (password != null) {
    checkFile(await fileQueries.findFile(transactions, actor, fileId), permission)
    await checkCounts(transactions, actor, fileId)
  }
  const passwordHash = password == null ? null : await hash(password)
  const { token, hash: tokenHash } = newToken(actor.orgId)
  const maxUploads = permission === 'upload' ? defaultUploads : null
  const settings = settingsOf(input, {
    expiresAt: null,
    maxDownloads: null,
    maxUploads,
    maxFileBytes: null,
    allowedTypes: null,
  })
  return transactions.transaction(actor, async (db) => {
    const file = checkFile(await fileQueries.lockFile(db, actor, fileId), permission)
    await queries.lockShares(db, actor)
    await checkCounts(db, actor, fileId)
    const created = { ...settings, id: newId(), fileId, tokenHash, permission, passwordHash, guards: file.guards }
    const row = await queries.insertShare(db, actor, created)
    if (!row) throw new Error('the statement returned no share')
    await auditShare(db, actor, 'file.shared', { file, row })
    await recordShare(db, actor, 'created', { file, share: row })
    return { share: row, token }
  })
}

const auditShare = (
  db: Parameters<typeof audit>[0],
  actor: Actor,
  action: string,
  { file, row }: { file: FileRow; row: ShareRow },
): Promise<void> => {
  const { id: shareId, permission, hasPassword, expiresAt } = row
  const details = { name: file.name, shareId, permission, hasPassword, expiresAt }
  return audit(db, actor, action, { type: 'file', id: file.id, details })
}

type Ended<Row> = Row & { ended: boolean }

export interface SharePage<Row = Ended<ShareRow>> {
  items: Row[]
  nextCursor: string | null
}

const pageOf = async <Row extends ShareRow>(
  db: Db,
  { orgId }: Actor,
  rows: Row[],
  limit: number,
): Promise<SharePage<Ended<Row>>> => {
  const items = await withEnds(db, orgId, rows.slice(0, limit))
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null }
}

/** A page of the shares of all files that are not in the trash, the newest first. */
export const listOrgShares = async (
  db: Db,
  actor: Actor,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<SharePage<Ended<ListedShareRow>>> => {
  const [after] = cursor === undefined ? [] : decodeCursor(cursor, ['uuid'])
  return pageOf(db, actor, await queries.listOrgShares(db, actor, { after, limit: limit + 1 }), limit)
}

/** A page of the shares of a file, the newest first. */
export const listShares = async (
  db: Db,
  actor: Actor,
  fileId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<SharePage> => {
  const [after] = cursor === undefined ? [] : decodeCursor(cursor, ['uuid'])
  if (!(await queries.findSharedFile(db, actor, fileId))) throw notFound('File')
  return pageOf(db, actor, await queries.listShares(db, actor, fileId, { after, limit: limit + 1 }), limit)
}

export interface ShareOf {
  fileId: string
  shareId: string
  ifMatch: string | undefined
}

/** Changes a share at once: the next request of its visitors is subject to it. Throws like createShare. */
export const updateShare = async (
  { db: transactions, hash }: ShareStore,
  actor: Actor,
  { fileId, shareId, ifMatch }: ShareOf,
  change: ShareChange,
): Promise<ShareRow> => {
  const check = async (db: Db, share: ShareRow | undefined): Promise<{ file: FileRow; before: ShareRow }> => {
    const file = requireWritable(await fileQueries.findFile(db, actor, fileId), 'Share')
    if (!share) throw notFound('Share')
    requireMatch(ifMatch, share)
    requireRead(actor, share.permission)
    checkSettings(share.permission, change)
    return { file, before: share }
  }
  const { password } = change
  if (password != null) await check(transactions, await queries.findShare(transactions, actor, fileId, shareId))
  const passwordHash = password == null ? password : await hash(password)
  return transactions.transaction(actor, async (db) => {
    const { file, before } = await check(db, await queries.lockShare(db, actor, fileId, shareId))
    const row = await queries.updateShare(db, actor, shareId, { ...settingsOf(change, before), passwordHash })
    if (!row) throw new Error('the statement returned no share')
    await auditShare(db, actor, 'file.share-updated', { file, row })
    await recordShare(db, actor, 'updated', { file, share: row })
    return row
  })
}

/**
 * Ends a share, also of a file in the trash: its URL stops working at once, and running downloads and uploads end within a
 * second.
 */
export const revokeShare = (database: Database, actor: Actor, { fileId, shareId, ifMatch }: ShareOf): Promise<void> =>
  database.transaction(actor, async (db) => {
    const file = requireWritable(await queries.findSharedFile(db, actor, fileId), 'Share')
    const row = await queries.lockShare(db, actor, fileId, shareId)
    if (!row) throw notFound('Share')
    requireMatch(ifMatch, row)
    await queries.deleteShare(db, actor, shareId)
    await auditShare(db, actor, 'file.share-revoked', { file, row })
    await recordShare(db, actor, 'revoked', { file, share: row })
  })

const endedDays = 30
const daily = defineJob<Record<string, never>>('files.delete-ended-shares', { retryLimit: 2 })

export const registerShareJobs = (worker: Pick<Jobs, 'work' | 'schedule'>, { db }: { db: Database }): void => {
  worker.work(daily, async () => {
    await queries.deleteEnded(db, endedDays)
  })
  worker.schedule(daily, '33 2 * * *')
}
