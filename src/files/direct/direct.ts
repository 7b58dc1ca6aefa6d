import { setTimeout as delay } from 'node:timers/promises'
import type { Actor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { ApiError, badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import type { DirectUploads, StoredPart } from '../../platform/object-store/object-store.ts'
import { requireWritable } from '../access/guards.ts'
import { storageKeyOf } from '../blobs/blobs.ts'
import type { FilesDeps } from '../deps.ts'
import * as fileQueries from '../queries.ts'
import type { FileRow } from '../queries.ts'
import { countUploads } from '../uploads/count-queries.ts'
import { maxFileBytes } from '../uploads/limits.ts'
import { insertPending } from '../uploads/pending.ts'
import type { PendingUpload } from '../uploads/pending.ts'
import { abortLater, endUpload } from './ending.ts'
import * as queries from './queries.ts'
import type { DirectRow } from './queries.ts'
import { verifyUpload } from './verify.ts'

export type DirectDeps = Pick<FilesDeps, 'db' | 'log' | 'objects' | 'quotas' | 'jobs' | 'config'>

/** Uploads of an org that are not ready: open, being verified or failed. */
const maxUnfinished = 1_000
/** Others of the org can begin uploads even when one person leaves as many as possible. */
const maxUnfinishedOfPerson = 500
const keptHours = { idle: 24, total: 168 }
export const urlSeconds = 3_600

/** The store has at most 10,000 parts for each object. */
const maxParts = 10_000
const minPartBytes = 67_108_864
const mebibyte = 1_048_576

/** A file that the contract allows is one part, so that one PUT to `uploadUrl` sends it. */
const partBytesOf = (sizeBytes: number): number =>
  sizeBytes <= maxFileBytes ? sizeBytes : Math.max(minPartBytes, Math.ceil(sizeBytes / maxParts / mebibyte) * mebibyte)

type Split = Pick<DirectRow, 'sizeBytes' | 'partBytes'>

const partCountOf = ({ sizeBytes, partBytes }: Split): number => Math.ceil(sizeBytes / partBytes)

const sizeOfPart = ({ sizeBytes, partBytes }: Split, number: number): number =>
  Math.min(partBytes, sizeBytes - (number - 1) * partBytes)

/** What the store offers when the server is configured to use it. */
export const directOf = ({ config, objects }: Pick<DirectDeps, 'config' | 'objects'>): DirectUploads | undefined =>
  config.directUploads ? objects.direct : undefined

/** An upload as the API returns it. */
export const directRecord = (
  { partBytes, sizeBytes, state, error, expiresAt }: DirectRow,
  receivedParts?: number[],
) => ({
  state,
  partBytes,
  partCount: partCountOf({ sizeBytes, partBytes }),
  ...(receivedParts === undefined ? {} : { receivedParts }),
  error,
  expiresAt,
})

/**
 * Creates a pending file whose bytes are sent to the store. Its size counts towards the quotas from now on. `transactions`:
 * the handle of the request, which stores its idempotency key.
 */
export const createDirect = async (
  deps: DirectDeps & { direct: DirectUploads },
  transactions: Database,
  actor: Actor,
  pending: PendingUpload,
): Promise<{ file: FileRow; upload: DirectRow }> => {
  const { quotas, direct } = deps
  const { orgId } = actor
  const { mimeType, sizeBytes } = pending
  await quotas.check(orgId, { files: 1, storedBytes: sizeBytes })
  const blobId = newId()
  const storeId = await direct.begin(storageKeyOf(orgId, blobId), { contentType: mimeType })
  try {
    return await transactions.transaction(actor, async (db) => {
      const { found, own } = await countUploads(db, actor, queries.unfinished, maxUnfinished)
      const [who, most] = own < maxUnfinishedOfPerson ? ['An org', maxUnfinished] : ['A person', maxUnfinishedOfPerson]
      if (found >= maxUnfinished || own >= maxUnfinishedOfPerson) {
        throw conflict(`${who} has at most ${most} direct uploads that are not ready. Complete or delete some.`)
      }
      await queries.insertPartBlob(db, orgId, blobId)
      const fileId = newId()
      const created = { fileId, blobId, storeId, sizeBytes, partBytes: partBytesOf(sizeBytes) }
      const upload = await queries.insertDirect(db, actor, created, keptHours)
      if (!upload) throw new Error('the statement returned no upload')
      const file = await insertPending(db, quotas, actor, { ...pending, id: fileId })
      return { file, upload }
    })
  } catch (error) {
    // After another error the transaction may have been committed. What it left is aborted by the reconciliation.
    if (error instanceof ApiError) await abortLater(deps, direct, { orgId, blobId, storeId })
    throw error
  }
}

/** An upload of the caller. Throws FORBIDDEN for a file that they may only read, NOT_FOUND for others. */
const getOwn = async (db: Database, actor: Actor, fileId: string): Promise<DirectRow> => {
  const upload = await queries.findDirect(db, actor, fileId)
  if (upload) return upload
  requireWritable(await fileQueries.findFile(db, actor, fileId), 'Upload')
  throw notFound('Upload')
}

/** The same, when its pending file is still there and the caller may change it. */
const getUsable = async (db: Database, actor: Actor, fileId: string): Promise<DirectRow> => {
  const upload = await getOwn(db, actor, fileId)
  if (upload.isExpired) throw conflict('This upload has expired. Create the file again.')
  requireWritable(await fileQueries.findFile(db, actor, fileId), 'Upload')
  return upload
}

const requireOpen = ({ state }: Pick<DirectRow, 'state'>): void => {
  if (state === 'open') return
  const what = { verifying: 'is being verified', ready: 'is complete', failed: 'has failed' }[state]
  throw conflict(`This upload ${what}.`)
}

const requireDirect = (deps: Pick<DirectDeps, 'config' | 'objects'>): DirectUploads => {
  const direct = directOf(deps)
  if (!direct) throw conflict('Direct uploads are not enabled on this server any more. Create the file again.')
  return direct
}

const arrived = async (direct: DirectUploads, { orgId, blobId, storeId }: DirectRow): Promise<StoredPart[]> => {
  const parts = await direct.parts(storageKeyOf(orgId, blobId), storeId)
  if (!parts) throw conflict('The object store has deleted this upload. Create the file again.')
  return parts
}

/** The numbers of the parts that have arrived with the right size. */
const receivedOf = (parts: StoredPart[], upload: Split): number[] =>
  parts.filter(({ number, sizeBytes }) => sizeBytes === sizeOfPart(upload, number)).map(({ number }) => number)

/** The state of an upload of the caller. While it is open, with the parts that have arrived. */
export const readDirect = async (deps: DirectDeps, actor: Actor, fileId: string) => {
  const upload = await queries.findDirect(deps.db, actor, fileId)
  if (!upload) throw notFound('Upload')
  // The file of a failed upload is deleted.
  if (upload.state === 'failed') return directRecord(upload)
  if (!(await fileQueries.findFile(deps.db, actor, fileId))) throw notFound('Upload')
  if (upload.state !== 'open' || upload.isExpired) return directRecord(upload)
  return directRecord(upload, receivedOf(await arrived(requireDirect(deps), upload), upload))
}

/** Finds an end whose wake-up was lost. */
const pollMs = 2_000

/**
 * The state of an upload of the caller once it is not being verified any more, or after `waitSeconds`. Returns at once
 * when the signal is aborted, or when this person or this process waits for too many uploads already.
 */
export const awaitDirect = async (
  deps: DirectDeps & Pick<FilesDeps, 'uploadEnds'>,
  actor: Actor,
  fileId: string,
  { waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
) => {
  const until = performance.now() + waitSeconds * 1_000
  for (;;) {
    const ended = new AbortController()
    // Before the state is read, so that no end is missed.
    const unsubscribe = deps.uploadEnds.subscribe(fileId, actor.userId, () => ended.abort())
    try {
      const upload = await readDirect(deps, actor, fileId)
      const leftMs = until - performance.now()
      if (upload.state !== 'verifying' || !unsubscribe || leftMs <= 0 || signal.aborted) return upload
      const woken = AbortSignal.any([signal, ended.signal])
      await delay(Math.min(leftMs, pollMs), undefined, { signal: woken }).catch(() => undefined)
    } finally {
      unsubscribe?.()
    }
  }
}

export const signPart = async (
  direct: DirectUploads,
  upload: DirectRow,
  number: number,
): Promise<{ number: number; startByte: number; sizeBytes: number; url: string }> => {
  const { orgId, blobId, storeId, partBytes } = upload
  const sizeBytes = sizeOfPart(upload, number)
  const signed = { number, sizeBytes, expiresSeconds: urlSeconds }
  const url = await direct.signPart(storageKeyOf(orgId, blobId), storeId, signed)
  return { number, startByte: (number - 1) * partBytes, sizeBytes, url }
}

/** URLs of parts, each valid for an hour. Extends the upload. */
export const signParts = async (deps: DirectDeps, actor: Actor, fileId: string, numbers: number[]) => {
  const upload = await getUsable(deps.db, actor, fileId)
  requireOpen(upload)
  const direct = requireDirect(deps)
  const count = partCountOf(upload)
  const unknown = numbers.find((number) => number > count)
  if (unknown !== undefined) throw badRequest(`numbers must be at most ${count}, the number of parts`)
  const kept = await queries.extend(deps.db, upload.orgId, fileId, keptHours.idle)
  if (!kept) throw conflict('This upload is not open any more.')
  const parts = []
  for (const number of new Set(numbers)) parts.push(await signPart(direct, upload, number))
  return { parts, expiresAt: kept.expiresAt }
}

/** Has the bytes of an upload verified when all have arrived. Does nothing for one that is complete already. */
export const completeDirect = async (deps: DirectDeps, transactions: Database, actor: Actor, fileId: string) => {
  const upload = await getUsable(deps.db, actor, fileId)
  if (upload.state !== 'open') return directRecord(upload)
  const received = new Set(receivedOf(await arrived(requireDirect(deps), upload), upload))
  const count = partCountOf(upload)
  if (received.size < count) {
    const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !received.has(number))
    const named = missing.slice(0, 10).join(', ')
    throw conflict(`${missing.length} of ${count} parts have not arrived: ${named}${missing.length > 10 ? ', …' : ''}.`)
  }
  await transactions.transaction(actor, async (db) => {
    const states = { from: 'open', to: 'verifying' } as const
    // Another request may have completed it.
    if ((await queries.setState(db, upload.orgId, fileId, states)) === 0) return
    await deps.jobs.enqueue(db, verifyUpload, { orgId: upload.orgId, fileId }, { singletonKey: fileId })
  })
  return directRecord({ ...upload, state: 'verifying' })
}

/** Deletes an upload of the caller with its pending file and what has arrived of it. */
export const abortDirect = async (deps: DirectDeps, actor: Actor, fileId: string): Promise<void> => {
  const upload = await getOwn(deps.db, actor, fileId)
  const deleted = await deps.db.transaction(actor, async (db) => {
    const row = await queries.deleteDirect(db, actor.orgId, fileId, ['open', 'failed'])
    if (row?.state === 'open') await endUpload(db, deps, actor, { fileId, blobId: row.blobId })
    return row
  })
  if (!deleted) requireOpen({ state: upload.state === 'open' ? 'verifying' : upload.state })
  if (deleted?.state === 'open') await abortLater(deps, deps.objects.direct, upload)
}

/** Those of these keys of objects that clients are uploading. */
export const keepDirect = async (db: Database, keys: string[]): Promise<ReadonlySet<string>> => {
  const known = keys
    .map((key) => key.split('/') as [string, string])
    .filter(([orgId, blobId]) => isUuid(orgId) && isUuid(blobId ?? ''))
  const rows = await queries.listKept(
    db,
    known.map(([orgId]) => orgId),
    known.map(([, blobId]) => blobId),
  )
  return new Set(rows.map(({ orgId, blobId }) => storageKeyOf(orgId, blobId)))
}
