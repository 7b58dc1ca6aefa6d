import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { requireWritable } from '../access/guards.ts'
import { releaseLater, storageKeyOf } from '../blobs/blobs.ts'
import { lockForVersion, markVersioned } from '../blobs/queries.ts'
import { keepBlobs } from '../copies/queries.ts'
import type { CopiedRow } from '../copies/queries.ts'
import { getContent } from '../content.ts'
import type { Content } from '../content.ts'
import type { FilesDeps, StoreDeps } from '../deps.ts'
import { recordChange, recordVersion } from '../events.ts'
import * as fileQueries from '../queries.ts'
import type { FileRow } from '../queries.ts'
import { noteChange } from '../recent/recent.ts'
import { bodyOf, receive, requireRow, useReceived } from '../uploads/uploads.ts'
import type { Received } from '../uploads/uploads.ts'
import * as queries from './queries.ts'
import type { ContentLock, NewContent, VersionRow } from './queries.ts'
import { retentionOf } from './retention.ts'

/** What replacing the content of a file needs. */
export interface VersionDeps extends StoreDeps {
  jobs: FilesDeps['jobs']
  config: { retention: { versionsKept: number; versionsDays: number } }
}

const maxLabelled = 100

/** The largest value of the column. */
export const maxVersion = 2_147_483_647

/** A file whose content can be replaced: neither a folder, nor a link, nor pending. */
const requireContent = <T extends FileRow>(file: T | undefined): T => {
  if (!file) throw notFound('File')
  if (file.source !== 'upload') throw badRequest(`A ${file.source} has no content and no versions.`)
  if (file.status === 'pending') {
    throw conflict('The bytes of this file have not been uploaded yet. Upload them with its upload URL.')
  }
  return file
}

/** The live file, before its new bytes are read. Throws like overwriteFile. */
export const getOverwritable = async (db: Db, actor: Actor, id: string, ifMatch?: string): Promise<FileRow> => {
  const file = requireContent(requireWritable(await fileQueries.findFile(db, actor, id)))
  requireMatch(ifMatch, file)
  return file
}

const lock = async (db: Transaction, actor: Actor, id: string, ifMatch: string | undefined): Promise<ContentLock> => {
  const file = requireContent(requireWritable(await queries.lockContent(db, actor, id)))
  requireMatch(ifMatch, file)
  return file
}

const blobOf = ({ blobId }: FileRow): string => {
  if (blobId === null) throw new Error('a ready file has no blob')
  return blobId
}

interface Replaced {
  file: ContentLock
  content: NewContent
  restoredFrom: number | null
  /** What the same transaction deletes. */
  freedBytes?: number
}

/** Makes the content of a locked file a version, and this its content. */
const replace = async (
  { quotas, jobs, config }: VersionDeps,
  db: Transaction,
  actor: Actor,
  { file, content, restoredFrom, freedBytes = 0 }: Replaced,
): Promise<FileRow> => {
  const { orgId } = actor
  const storedBytes = content.sizeBytes - freedBytes
  if (freedBytes === 0 || storedBytes > 0) await quotas.checkInsert(db, orgId, { storedBytes })
  const retention = await retentionOf(db, orgId, config.retention)
  await markVersioned(db, orgId, blobOf(file))
  const changed = requireRow(await queries.replaceContent(db, actor, file.id, content))
  const added = { ...retention, addedBytes: content.sizeBytes }
  if ((await queries.settleVersions(db, orgId, file.id, added)) > 0) await releaseLater(db, jobs, orgId)
  const details = { name: changed.name, version: changed.version, ...(restoredFrom === null ? {} : { restoredFrom }) }
  await audit(db, actor, restoredFrom === null ? 'file.overwritten' : 'file.version-restored', {
    type: 'file',
    id: file.id,
    details,
  })
  await recordChange(db, actor, { before: file, after: changed }, ['content'])
  await recordVersion(db, actor, changed, { change: 'created', version: changed.version, restoredFrom })
  await noteChange(db, actor, changed)
  return changed
}

export interface Overwrite {
  fileId: string
  mimeType: string
  ifMatch?: string | undefined
  /** Written by an agent that had read untrusted content. */
  isUntrusted?: boolean
  /** Opens the transaction; by default `deps.db`. */
  transactions?: Database
}

/**
 * Replaces the content of a file by received bytes; its old content becomes a version. The same bytes of the same type
 * change nothing, so that a request can be repeated. Throws NOT_FOUND, BAD_REQUEST for a folder or link, CONFLICT for a
 * pending file or when `ifMatch` names another revision, and like an upload when a quota is used up.
 */
export const overwriteFile = (
  deps: VersionDeps,
  actor: Actor,
  received: Received,
  { fileId, mimeType, ifMatch, isUntrusted = false, transactions }: Overwrite,
): Promise<FileRow> => {
  const { sha256, sizeBytes } = received
  let file: ContentLock | undefined
  return useReceived(deps, received, {
    transactions,
    // The file first: its lock decides which blob becomes that of a version.
    prepare: async (db) => {
      file = await lock(db, actor, fileId, ifMatch)
      await lockForVersion(db, actor.orgId, blobOf(file), sha256)
    },
    work: async (db, blobId) => {
      if (!file) throw new Error('the file was not locked')
      if (file.contentHash === sha256.toString('hex') && file.mimeType === mimeType) return file
      const content = { mimeType, sizeBytes, blobId, sha256, isUntrusted }
      return replace(deps, db, actor, { file, content, restoredFrom: null })
    },
  })
}

/**
 * Makes the bytes of another file the content of a file, as a new version. `freedBytes`: what the transaction deletes
 * later. Throws like overwriteFile.
 */
export const overwriteByFile = async (
  deps: VersionDeps,
  db: Transaction,
  actor: Actor,
  { fileId, source, freedBytes }: { fileId: string; source: CopiedRow; freedBytes: number },
): Promise<FileRow> => {
  const { mimeType, size: sizeBytes, contentHash, blobId, contentBy } = source
  if (mimeType === null || contentHash === null || blobId === null) throw new Error('a ready file has no content')
  const file = await lock(db, actor, fileId, undefined)
  const sha256 = Buffer.from(contentHash, 'hex')
  await lockForVersion(db, actor.orgId, blobOf(file), sha256)
  if ((await keepBlobs(db, actor.orgId, [blobId])).length === 0) {
    throw conflict('A file was deleted while its bytes were used. Try again.')
  }
  if (file.contentHash === contentHash && file.mimeType === mimeType) return file
  // Bytes of another person stay untrusted.
  const isUntrusted = source.isUntrusted || contentBy !== actor.userId
  const content = { mimeType, sizeBytes, blobId, sha256, isUntrusted }
  return replace(deps, db, actor, { file, content, restoredFrom: null, freedBytes })
}

/** Replaces the content of a file by bytes that are in memory. The file keeps its type. Throws like overwriteFile. */
export const overwriteWith = async (
  deps: VersionDeps,
  actor: Actor,
  bytes: Buffer,
  { fileId, isUntrusted }: { fileId: string; isUntrusted: boolean },
): Promise<FileRow> => {
  const { mimeType } = await getOverwritable(deps.db, actor, fileId)
  if (mimeType === null) throw new Error('a ready file has no type')
  const received = await receive(deps, actor.orgId, bodyOf(bytes), { mimeType, sizeBytes: bytes.length })
  return overwriteFile(deps, actor, received, { fileId, mimeType, isUntrusted })
}

export interface VersionPage {
  items: VersionRow[]
  nextCursor: string | null
}

/** A page of the versions of a file, the newest first. Throws NOT_FOUND, BAD_REQUEST for a folder or link. */
export const listVersions = async (
  db: Db,
  actor: Actor,
  fileId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<VersionPage> => {
  const [given] = cursor === undefined ? [] : decodeCursor(cursor, ['number'])
  const before = given === undefined ? undefined : Math.min(Math.max(given, 0), maxVersion)
  requireContent(await fileQueries.findFile(db, actor, fileId))
  const rows = await queries.listVersions(db, actor, fileId, { before, limit: limit + 1 })
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? encodeCursor([last.version]) : null }
}

/** The bytes of a version, under the name of the file. Throws NOT_FOUND when there is none. */
export const getVersionContent = async (db: Db, actor: Actor, fileId: string, version: number): Promise<Content> => {
  const file = requireContent(await fileQueries.findFile(db, actor, fileId))
  if (version === file.version) return getContent(db, actor, fileId)
  const found = await queries.findVersion(db, actor.orgId, fileId, version)
  if (!found) throw notFound('Version')
  const { mimeType, size: sizeBytes, contentHash, blobId } = found
  return {
    id: fileId,
    name: file.name,
    mimeType,
    sizeBytes,
    contentHash,
    storageKey: storageKeyOf(actor.orgId, blobId),
  }
}

const requireVersion = (row: VersionRow | undefined): VersionRow => {
  if (!row) throw new Error('the version was not found')
  return row
}

export interface VersionOf {
  fileId: string
  version: number
  ifMatch?: string | undefined
}

/**
 * Makes a former version the content of its file again, as a new version. Throws like overwriteFile, and NOT_FOUND when
 * there is no such version. The current version changes nothing.
 */
export const restoreVersion = async (
  deps: VersionDeps,
  transactions: Database,
  actor: Actor,
  { fileId, version, ifMatch }: VersionOf,
): Promise<FileRow> => {
  try {
    return await transactions.transaction(actor, async (db) => {
      const file = await lock(db, actor, fileId, ifMatch)
      if (version === file.version) return file
      const found = await queries.findVersion(db, actor.orgId, fileId, version)
      if (!found) throw notFound('Version')
      const { mimeType, size: sizeBytes, blobId, createdBy } = found
      const sha256 = Buffer.from(found.contentHash, 'hex')
      // Bytes of another person stay untrusted when they are restored.
      const isUntrusted = found.isUntrusted || createdBy !== actor.userId
      await lockForVersion(db, actor.orgId, blobOf(file), sha256)
      const content = { mimeType, sizeBytes, blobId, sha256, isUntrusted }
      return replace(deps, db, actor, { file, content, restoredFrom: version })
    })
  } catch (error) {
    await deps.quotas.recordRejection(error)
    throw error
  }
}

/**
 * Sets or removes the label of a version. Throws NOT_FOUND, CONFLICT when `ifMatch` names another revision of the file,
 * BAD_REQUEST when the file has too many versions with a label.
 */
export const labelVersion = (
  db: Database,
  actor: Actor,
  { fileId, version, ifMatch }: VersionOf,
  label: string | null,
): Promise<VersionRow> =>
  db.transaction(actor, async (db) => {
    const { orgId } = actor
    const file = await lock(db, actor, fileId, ifMatch)
    if (version === file.version) await queries.labelCurrent(db, orgId, fileId, label)
    else if ((await queries.labelVersion(db, orgId, { fileId, number: version, label })) === 0)
      throw notFound('Version')
    if (label !== null) {
      const currentLabel = version === file.version ? label : file.versionLabel
      const labelled = (await queries.countLabelled(db, orgId, fileId)) + (currentLabel === null ? 0 : 1)
      if (labelled > maxLabelled) throw badRequest(`A file must have at most ${maxLabelled} versions with a label.`)
    }
    await audit(db, actor, 'file.version-labelled', {
      type: 'file',
      id: fileId,
      details: { name: file.name, version, label },
    })
    await recordVersion(db, actor, file, { change: 'updated', version, label })
    const rows = await queries.listVersions(db, actor, fileId, { before: version + 1, limit: 1 })
    return requireVersion(rows[0])
  })

/** Deletes a former version. Throws like labelVersion, and BAD_REQUEST for the current version. */
export const deleteVersion = (
  { db, jobs }: Pick<VersionDeps, 'db' | 'jobs'>,
  actor: Actor,
  { fileId, version, ifMatch }: VersionOf,
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const { orgId } = actor
    const file = await lock(db, actor, fileId, ifMatch)
    if (version === file.version) throw badRequest('The current version cannot be deleted. Delete the file instead.')
    if ((await queries.deleteVersion(db, orgId, fileId, version)) === 0) throw notFound('Version')
    await releaseLater(db, jobs, orgId)
    await audit(db, actor, 'file.version-deleted', { type: 'file', id: fileId, details: { name: file.name, version } })
    await recordVersion(db, actor, file, { change: 'deleted', version })
  })
