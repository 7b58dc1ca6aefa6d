import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { systemActor } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { isMember } from '../../identity/sign-in/user-authority.ts'
import type { EventAuthor } from '../../outbox/record.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { storageKeyOf } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import type { StoreDeps } from '../deps.ts'
import { insertFile, recordChange } from '../events.ts'
import { maxFileBytes } from './limits.ts'
import { checkHead, createHeadCheck } from './magic-bytes.ts'
import * as queries from '../queries.ts'
import { resolvePlace } from '../tree/tree.ts'
import type { Place } from '../tree/tree.ts'

/** The hash and size of bytes that were streamed. */
export interface Measured {
  sha256: Buffer
  sizeBytes: number
}

/** Bytes that are in the object store and belong to no file yet. */
export interface Received extends Measured {
  orgId: string
  blobId: string
}

export const tooLarge = () => badRequest(`A file must have at most ${maxFileBytes} bytes.`)

interface Expected {
  mimeType: string
  /** The exact number of bytes, when it was declared beforehand. */
  sizeBytes?: number
}

/** Yields the bytes unchanged. Counts and hashes them, and checks the first ones against the declared type. */
const inspect = async function* (
  body: AsyncIterable<Buffer>,
  expected: Expected,
  hash: Hash,
  seen: { bytes: number },
): AsyncGenerator<Buffer> {
  const most = expected.sizeBytes ?? maxFileBytes
  const first = createHeadCheck((head) => checkHead(expected.mimeType, head))
  for await (const chunk of body) {
    seen.bytes += chunk.length
    if (seen.bytes > most)
      throw most === maxFileBytes ? tooLarge() : badRequest(`The body has more than ${most} bytes.`)
    hash.update(chunk)
    first.add(chunk)
    yield chunk
  }
  first.end()
  if (expected.sizeBytes !== undefined && seen.bytes !== expected.sizeBytes) {
    throw badRequest(`The body has ${seen.bytes} bytes instead of ${expected.sizeBytes}.`)
  }
}

/**
 * Deletes bytes that no file and no unfinished upload uses. Never throws: the nightly reconciliation deletes objects
 * whose deletion fails here, because their rows still mark them as unused.
 */
export const discard = async (
  { db, log, objects }: Omit<StoreDeps, 'quotas'>,
  orgId: string,
  blobId: string,
): Promise<void> => {
  try {
    if ((await blobQueries.markUnused(db, orgId, blobId)) === 0) return
    await objects.delete(storageKeyOf(orgId, blobId))
    await blobQueries.deleteUnused(db, orgId, [blobId])
  } catch (error) {
    log.warn(
      { err: error, orgId, blobId },
      'could not delete the bytes of an abandoned upload; the reconciliation will',
    )
  }
}

/** Reads and checks a body like `receive` without storing it. */
export const measure = async (body: AsyncIterable<Buffer>, expected: Expected): Promise<Measured> => {
  const hash = createHash('sha256')
  const seen = { bytes: 0 }
  const bytes = inspect(body, expected, hash, seen)
  while (!(await bytes.next()).done);
  return { sha256: hash.digest(), sizeBytes: seen.bytes }
}

/**
 * Streams a body into the object store under a new key. Throws BAD_REQUEST when the body is too long or does not have
 * the declared size or type; nothing of it is stored then.
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

export interface Use<T> {
  /** Opens the transaction; a request's handle stores its idempotency key in it. By default `deps.db`. */
  transactions?: Database | undefined
  /** Called first, to lock what must be locked before a blob. */
  prepare?: (db: Transaction) => Promise<void>
  work: (db: Transaction, blobId: string) => Promise<T>
}

/**
 * Runs `work` with the blob of the received bytes, in one transaction. The received bytes are deleted when it fails, or
 * when the org already has a blob with these bytes.
 */
export const useReceived = async <T>(
  deps: StoreDeps,
  received: Received,
  { transactions = deps.db, prepare, work }: Use<T>,
): Promise<T> => {
  const attempt = async (): Promise<{ result: T; blobId: string }> =>
    transactions.transaction(received, async (db) => {
      await prepare?.(db)
      const blob = await blobQueries.activateBlob(db, received)
      if (!blob) throw conflict('The upload took too long and its bytes were deleted. Upload the file again.')
      return { result: await work(db, blob.id), blobId: blob.id }
    })
  try {
    const { result, blobId } = await attempt().catch((error: unknown) => {
      // Another upload of the same bytes was committed in the meantime. The second attempt finds its blob.
      if (violatedConstraint(error) === 'blobs_sha256_key') return attempt()
      throw error
    })
    if (blobId !== received.blobId) await discard(deps, received.orgId, received.blobId)
    return result
  } catch (error) {
    await discard(deps, received.orgId, received.blobId)
    // Recorded here, because agents also store files and their errors do not pass the request hook that records
    // rejections.
    await deps.quotas.recordRejection(error)
    throw error
  }
}

/** The row of a statement that always returns one. */
export const requireRow = (row: queries.FileRow | undefined): queries.FileRow => {
  if (!row) throw new Error('the statement returned no file')
  return row
}

export interface NewUpload extends Place {
  name: string
  mimeType: string
  /** Written by an agent that had read untrusted content, or uploaded by a stranger. */
  isUntrusted?: boolean
  /** Who gave the name, when that is not the actor. */
  namedBy?: string
  /** The author of the event, when that is not the actor. */
  author?: EventAuthor
  /** Opens the transaction; a request's handle stores its idempotency key in it. By default `deps.db`. */
  transactions?: Database
  /** Called first in the transaction, to lock and check what the upload depends on. */
  prepare?: (db: Transaction) => Promise<void>
}

/** Creates the file of received bytes. */
export const createUploadedFile = (
  deps: StoreDeps,
  actor: Actor,
  received: Received,
  file: NewUpload,
): Promise<queries.FileRow> => {
  const work = async (db: Transaction, blobId: string): Promise<queries.FileRow> => {
    const place = await resolvePlace(db, actor, file)
    const { sha256, sizeBytes } = received
    await deps.quotas.checkInsert(db, actor.orgId, { files: 1, storedBytes: sizeBytes })
    const row: queries.NewFile = {
      id: newId(),
      source: 'upload',
      name: file.name,
      mimeType: file.mimeType,
      isUntrusted: file.isUntrusted ?? false,
      ...(file.namedBy === undefined ? {} : { namedBy: file.namedBy }),
      ...place,
      sizeBytes,
      blobId,
      sha256,
    }
    return insertFile(db, actor, row, file.author)
  }
  const { transactions, prepare } = file
  return useReceived(deps, received, { transactions, work, ...(prepare === undefined ? {} : { prepare }) })
}

/** Bytes in memory as a body. */
export const bodyOf = async function* (bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** Stores a file whose bytes are in memory. Throws like an upload by the API. */
export const storeFile = async (
  deps: StoreDeps,
  actor: Actor,
  bytes: Buffer,
  file: NewUpload,
): Promise<queries.FileRow> => {
  const received = await receive(deps, actor.orgId, bodyOf(bytes), { mimeType: file.mimeType, sizeBytes: bytes.length })
  return createUploadedFile(deps, actor, received, file)
}

/** An uploaded file whose creator is a member of the org: a signed URL is of no use after its creator has left. */
export const findUploadOfMember = async (
  db: Db,
  orgId: string,
  fileId: string,
): Promise<queries.PendingRow | undefined> => {
  const row = await queries.findUpload(db, orgId, fileId)
  // A statement of its own, because `members` is on the coordinator where tables are distributed.
  return row && (await isMember(db, orgId, row.createdBy)) ? row : undefined
}

/**
 * Completes a pending file. Throws CONFLICT when another upload completed it first, NOT_FOUND when it is deleted or its
 * creator has left the org.
 */
export const finishUpload = async (deps: StoreDeps, received: Received, fileId: string): Promise<queries.FileRow> => {
  const work = async (db: Transaction, blobId: string): Promise<queries.FileRow> => {
    const row = await queries.finishFile(db, received.orgId, fileId, { blobId, sha256: received.sha256 })
    if (row) {
      if (!(await isMember(db, received.orgId, row.createdBy))) throw notFound('File')
      await recordChange(db, systemActor(received.orgId, 'Upload URL'), { before: row, after: row }, ['content'])
      return row
    }
    if (await findUploadOfMember(db, received.orgId, fileId)) throw alreadyFinished()
    throw notFound('File')
  }
  return useReceived(deps, received, { work })
}

export const alreadyFinished = () => conflict('The file has been uploaded already. An upload URL works once.')
