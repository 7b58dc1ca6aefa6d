import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import type { Actor } from '../../identity/actor.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import * as blobQueries from './blob-queries.ts'
import { checkHead, headBytes } from './magic-bytes.ts'
import * as queries from '../queries.ts'
import { resolvePlace } from '../tree/tree.ts'
import type { Place } from '../tree/tree.ts'

export const maxFileBytes = 104_857_600

export interface StoreDeps {
  db: Database
  log: Log
  objects: ObjectStore
  quotas: Quotas
}

/** What bytes were found to be while they went by. */
export interface Measured {
  sha256: Buffer
  sizeBytes: number
}

/** Bytes that lie in the store and belong to no file yet. */
export interface Received extends Measured {
  orgId: string
  blobId: string
}

/** The key never contains a name: any name can be stored, and none can lead anywhere. */
export const storageKeyOf = (orgId: string, blobId: string): string => `${orgId}/${blobId}`

export const tooLarge = () => badRequest(`A file may have at most ${maxFileBytes} bytes.`)

interface Expected {
  mimeType: string
  /** The exact number of bytes, when it was said beforehand. */
  sizeBytes?: number
}

/** Passes the bytes on; counts, hashes and looks at them on the way. */
const inspect = async function* (
  body: AsyncIterable<Buffer>,
  expected: Expected,
  hash: Hash,
  seen: { bytes: number },
): AsyncGenerator<Buffer> {
  const most = expected.sizeBytes ?? maxFileBytes
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of body) {
    seen.bytes += chunk.length
    if (seen.bytes > most)
      throw most === maxFileBytes ? tooLarge() : badRequest(`The body has more than ${most} bytes.`)
    hash.update(chunk)
    if (head !== undefined) {
      head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
      if (head.length >= headBytes) {
        checkHead(expected.mimeType, head)
        head = undefined
      }
    }
    yield chunk
  }
  if (head !== undefined) checkHead(expected.mimeType, head)
  if (expected.sizeBytes !== undefined && seen.bytes !== expected.sizeBytes) {
    throw badRequest(`The body has ${seen.bytes} bytes instead of ${expected.sizeBytes}.`)
  }
}

/**
 * Takes back bytes that no file came to use. Never throws: what cannot be removed now is found by the nightly
 * reconciliation, since its row still says that it is unused.
 */
export const discard = async (
  { db, log, objects }: Omit<StoreDeps, 'quotas'>,
  orgId: string,
  blobId: string,
): Promise<void> => {
  try {
    if ((await blobQueries.condemnUnused(db, orgId, blobId)) === 0) return
    await objects.delete(storageKeyOf(orgId, blobId))
    await blobQueries.deleteCondemned(db, orgId, [blobId])
  } catch (error) {
    log.warn({ err: error, orgId, blobId }, 'bytes of an abandoned upload left for the reconciliation')
  }
}

/** Reads a body as `receive` does, and stores nothing of it. */
export const measure = async (body: AsyncIterable<Buffer>, expected: Expected): Promise<Measured> => {
  const hash = createHash('sha256')
  const seen = { bytes: 0 }
  const bytes = inspect(body, expected, hash, seen)
  while (!(await bytes.next()).done);
  return { sha256: hash.digest(), sizeBytes: seen.bytes }
}

/**
 * Streams a body into the store under a key of its own. Rejects with BAD_REQUEST when it is too long, not of the
 * expected size or not of the type that it was declared as; then nothing of it is left.
 */
export const receive = async (
  deps: StoreDeps,
  orgId: string,
  body: AsyncIterable<Buffer>,
  expected: Expected,
): Promise<Received> => {
  const blobId = newId()
  const hash = createHash('sha256')
  const seen = { bytes: 0 }
  await blobQueries.insertWritingBlob(deps.db, orgId, blobId)
  try {
    await deps.objects.put(storageKeyOf(orgId, blobId), inspect(body, expected, hash, seen), {
      contentType: expected.mimeType,
      ...(expected.sizeBytes === undefined ? {} : { sizeBytes: expected.sizeBytes }),
    })
  } catch (error) {
    await discard(deps, orgId, blobId)
    throw error
  }
  return { orgId, blobId, sha256: hash.digest(), sizeBytes: seen.bytes }
}

/**
 * Runs `work` with the blob of the received bytes, in one transaction; when it fails, or the bytes were there already,
 * what was received is taken back.
 */
const useReceived = async <T>(
  deps: StoreDeps,
  transactions: Database,
  received: Received,
  work: (db: Transaction, blobId: string) => Promise<T>,
): Promise<T> => {
  const attempt = async (): Promise<{ result: T; blobId: string }> =>
    transactions.transaction(received, async (db) => {
      const blob = await blobQueries.settleBlob(db, received)
      if (!blob) throw conflict('The upload took so long that its bytes were given up. Upload it again.')
      return { result: await work(db, blob.id), blobId: blob.id }
    })
  try {
    const { result, blobId } = await attempt().catch((error: unknown) => {
      // Another upload of the same bytes committed between our look and our write: now we see it.
      if (violatedConstraint(error) === 'blobs_sha256_key') return attempt()
      throw error
    })
    if (blobId !== received.blobId) await discard(deps, received.orgId, received.blobId)
    return result
  } catch (error) {
    await discard(deps, received.orgId, received.blobId)
    // Agents write files, too, and no request ends with their error.
    await deps.quotas.recordRejection(error)
    throw error
  }
}

/** The row that a statement wrote; that it wrote one was made sure before. */
export const existing = (row: queries.FileRow | undefined): queries.FileRow => {
  if (!row) throw new Error('the statement wrote no file')
  return row
}

/** The file of bytes that were received. `transactions` carries the request's idempotency key, when it has one. */
export const createUploadedFile = (
  deps: StoreDeps,
  transactions: Database,
  actor: Actor,
  received: Received,
  file: { name: string; mimeType: string; isUntrusted?: boolean } & Place,
): Promise<queries.FileRow> =>
  useReceived(deps, transactions, received, async (db, blobId) => {
    const place = await resolvePlace(db, actor, file)
    const { sha256, sizeBytes } = received
    await deps.quotas.checkInsert(db, actor.orgId, { files: 1, storedBytes: sizeBytes })
    return existing(
      await queries.insertFile(db, actor, {
        id: newId(),
        source: 'upload',
        name: file.name,
        mimeType: file.mimeType,
        isUntrusted: file.isUntrusted ?? false,
        ...place,
        sizeBytes,
        blobId,
        sha256,
      }),
    )
  })

/** Finishes a pending file. CONFLICT when another upload finished it first, NOT_FOUND when it is gone. */
export const finishUpload = async (deps: StoreDeps, received: Received, fileId: string): Promise<queries.FileRow> =>
  useReceived(deps, deps.db, received, async (db, blobId) => {
    const row = await queries.finishFile(db, received.orgId, fileId, blobId, received.sha256)
    if (row) return row
    if (await queries.findUpload(db, received.orgId, fileId)) throw alreadyFinished()
    throw notFound('File')
  })

export const alreadyFinished = () => conflict('The file has its bytes already; an upload URL works once.')
