import type { Actor } from '../../identity/actor.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { Lease } from '../../platform/database/lease.ts'
import { ApiError, conflict } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { releaseLater } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import type { FilesDeps } from '../deps.ts'
import { insertFile } from '../events.ts'
import type { FileRow } from '../queries.ts'
import { resolvePlace } from '../tree/tree.ts'
import { discard, receive } from '../uploads/uploads.ts'
import type { Received } from '../uploads/uploads.ts'
import type { HeldUpload } from './leases.ts'
import { locked } from './protocol.ts'
import { keptHours, readParts } from './parts.ts'
import * as queries from './queries.ts'
import type { PartRow, UploadRow } from './queries.ts'

export type ResumableDeps = Pick<FilesDeps, 'db' | 'log' | 'objects' | 'quotas' | 'jobs' | 'config'>

/** What an open upload counts towards the quotas of its org. */
export const reservedBy = (uploads: Pick<UploadRow, 'kind' | 'sizeBytes'>[]): { files: number; bytes: number } => ({
  files: uploads.filter(({ kind }) => kind === 'whole').length,
  bytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
})

export const release = async (
  db: Transaction,
  orgId: string,
  uploads: Pick<UploadRow, 'kind' | 'sizeBytes'>[],
): Promise<void> => {
  const { files, bytes } = reservedBy(uploads)
  await queries.addReserved(db, orgId, { files: -files, bytes: -bytes })
}

/** Marks the blobs of the parts of uploads as unused and deletes the parts, except for `kept`, which becomes that of a file. */
const takeParts = async (db: Transaction, orgId: string, uploadIds: string[], kept?: string): Promise<number> => {
  const ids = (await queries.deleteParts(db, orgId, uploadIds)).map(({ blobId }) => blobId)
  if (kept !== undefined) await queries.setBlobState(db, orgId, [kept], { from: 'part', to: 'writing' })
  const others = ids.filter((id) => id !== kept)
  if (others.length > 0) await queries.setBlobState(db, orgId, others, { from: 'part', to: 'unused' })
  return others.length
}

export interface FileOfUpload {
  id: string
  name: string
  mimeType: string
  parentId: string | null
}

/** Inserts the file of received bytes; the blob of those bytes can be another one that the org has already. */
const insert = async (
  db: Transaction,
  actor: Actor,
  received: Received,
  { id, name, mimeType, parentId }: FileOfUpload,
): Promise<{ row: FileRow; blobId: string }> => {
  const blob = await blobQueries.activateBlob(db, received)
  if (!blob) throw conflict('The bytes of this upload were deleted. Begin a new one.')
  const place = await resolvePlace(db, actor, { parentId })
  const { sizeBytes, sha256 } = received
  const file = { id, source: 'upload', name, mimeType, ...place, sizeBytes, blobId: blob.id, sha256 } as const
  return { row: await insertFile(db, actor, file), blobId: blob.id }
}

/** Runs a transaction again when another upload of the same bytes was committed in the meantime. */
const twice = async <T>(attempt: () => Promise<T>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (violatedConstraint(error) === 'blobs_sha256_key') return attempt()
    throw error
  }
}

interface Sources {
  uploads: UploadRow[]
  leases: Lease[]
  parts: PartRow[]
  file: FileOfUpload
}

/** The bytes of the parts as one object. A single part is that object already. */
const join = async (deps: ResumableDeps, orgId: string, { uploads, leases, parts, file }: Sources) => {
  const [only, ...more] = parts
  const sizeBytes = uploads.reduce((sum, upload) => sum + upload.sizeBytes, 0)
  // The type of a partial upload is not known while its bytes arrive, so it is checked when they are read.
  if (only && more.length === 0 && uploads[0]?.kind === 'whole') {
    const { blobId, sha256 } = only
    return { received: { orgId, blobId, sha256, sizeBytes: only.sizeBytes }, isPart: true }
  }
  const expected = { mimeType: file.mimeType, sizeBytes }
  const received = await receive(deps, orgId, readParts(deps, orgId, parts), expected)
  for (const lease of leases) lease.check()
  return { received, isPart: false }
}

/**
 * Makes a file of received uploads. `change` ends them in the same transaction. When it fails, the parts are kept, so that
 * the next request for the upload tries again.
 */
const makeFile = async (
  deps: ResumableDeps,
  actor: Actor,
  sources: Sources,
  change: (db: Transaction) => Promise<void>,
): Promise<FileRow> => {
  const { db, jobs } = deps
  const { orgId } = actor
  const ids = sources.uploads.map(({ id }) => id)
  const { received, isPart } = await join(deps, orgId, sources)
  const attempt = () =>
    db.transaction(actor, async (db) => {
      const unused = await takeParts(db, orgId, ids, isPart ? received.blobId : undefined)
      await change(db)
      const { row, blobId } = await insert(db, actor, received, sources.file)
      await release(db, orgId, sources.uploads)
      const isDuplicate = isPart && blobId !== received.blobId
      if (isDuplicate) await queries.setBlobState(db, orgId, [received.blobId], { from: 'writing', to: 'unused' })
      if (unused > 0 || isDuplicate) await releaseLater(db, jobs, orgId)
      return { row, blobId }
    })
  try {
    const { row, blobId } = await twice(attempt)
    if (!isPart && blobId !== received.blobId) await discard(deps, orgId, received.blobId)
    return row
  } catch (error) {
    if (!isPart) await discard(deps, orgId, received.blobId)
    throw error
  }
}

/**
 * Makes the file of an upload whose bytes have all arrived. An upload that can never become a file, because its folder is
 * deleted or its bytes have another type, is ended.
 */
export const completeUpload = async (
  deps: ResumableDeps,
  actor: Actor,
  { row: upload, lease }: Pick<HeldUpload, 'row' | 'lease'>,
): Promise<FileRow> => {
  const { orgId, name, mimeType, parentId } = upload
  if (name === null || mimeType === null) throw new Error('an upload of a file has no name or type')
  const parts = await queries.listParts(deps.db, orgId, upload.id)
  const file = { id: newId(), name, mimeType, parentId }
  try {
    return await makeFile(deps, actor, { uploads: [upload], leases: [lease], parts, file }, async (db) => {
      if ((await queries.setComplete(db, upload, lease.token, file.id)) === 0) throw locked()
    })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_REQUEST') await endUpload(deps, upload, lease)
    throw error
  }
}

/** Deletes an open upload with its bytes. */
export const endUpload = async (
  { db, jobs }: Pick<ResumableDeps, 'db' | 'jobs'>,
  { orgId, id }: UploadRow,
  { token }: Lease,
): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    const parts = await takeParts(db, orgId, [id])
    const deleted = await queries.deleteUploads(db, orgId, [{ id, token }])
    if (deleted.length === 0) throw locked()
    await release(db, orgId, deleted)
    if (parts > 0) await releaseLater(db, jobs, orgId)
  })

/** Puts the bytes of partial uploads together to a file. The partial uploads are deleted. */
export const concatenate = async (
  deps: ResumableDeps,
  actor: Actor,
  held: HeldUpload[],
  { file, ...final }: { id: string; metadata: string | null; file: Omit<FileOfUpload, 'id'> },
): Promise<{ upload: UploadRow; row: FileRow }> => {
  const { db, quotas } = deps
  const { orgId } = actor
  const uploads = held.map(({ row }) => row)
  const claims = held.map(({ row, lease }) => ({ id: row.id, token: lease.token }))
  await quotas.check(orgId, { files: 1 })
  const parts: PartRow[] = []
  for (const { id } of uploads) parts.push(...(await queries.listParts(db, orgId, id)))
  const leases = held.map(({ lease }) => lease)
  const fileId = newId()
  const sizeBytes = uploads.reduce((sum, upload) => sum + upload.sizeBytes, 0)
  let upload: UploadRow | undefined
  const row = await makeFile(deps, actor, { uploads, leases, parts, file: { id: fileId, ...file } }, async (db) => {
    const { name, mimeType, parentId } = file
    const created = { ...final, kind: 'final', name, mimeType, parentId, sizeBytes, fileId } as const
    upload = await queries.insertUpload(db, actor, created, keptHours)
    await quotas.checkInsert(db, orgId, { files: 1 })
    if ((await queries.deleteUploads(db, orgId, claims)).length !== claims.length) throw locked()
  })
  if (!upload) throw new Error('the statement returned no upload')
  return { upload, row }
}
