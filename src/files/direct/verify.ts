import { systemActor } from '../../identity/actor.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Database } from '../../platform/database/database.ts'
import { ApiError, badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { JobContext, Jobs } from '../../platform/jobs/jobs.ts'
import type { DirectUploads } from '../../platform/object-store/object-store.ts'
import { releaseLater, storageKeyOf } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import { recordChange } from '../events.ts'
import * as fileQueries from '../queries.ts'
import { measure } from '../uploads/uploads.ts'
import type { Measured } from '../uploads/uploads.ts'
import { uploadEnded } from './ended.ts'
import { abortLater, endUpload, endUseless } from './ending.ts'
import type { EndingDeps } from './ending.ts'
import * as queries from './queries.ts'
import type { DirectRow } from './queries.ts'

/**
 * Reads the bytes of an upload that is complete. Reading 5 TB takes hours, and begins again when its process is killed.
 * An outage of the store may take longer than all retries; the hourly job continues then.
 */
export const verifyUpload = defineJob<{ orgId: string; fileId: string }>('files.verify-upload', {
  timeoutSeconds: 86_000,
  fairBy: 'orgId',
})

/** An org gets half of the places, so that a file of hours leaves some for others. */
const concurrency = 4

type Verifying = DirectRow & { mimeType: string; isUseless: boolean }

/** Makes the object of the parts, unless an earlier attempt has done so. Throws NOT_FOUND when there are none. */
const makeObject = async (
  { objects }: Pick<EndingDeps, 'objects'>,
  direct: DirectUploads,
  { orgId, blobId, storeId, sizeBytes }: Verifying,
): Promise<void> => {
  const key = storageKeyOf(orgId, blobId)
  if (await objects.head(key)) return
  const parts = await direct.parts(key, storeId)
  // It can have ended since the object was asked for, when another process verifies it as well.
  if (!parts) {
    if (await objects.head(key)) return
    throw new ApiError('NOT_FOUND', 'The object store has no bytes of this upload.')
  }
  const received = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  if (received !== sizeBytes) throw badRequest(`The upload has ${received} bytes instead of ${sizeBytes}.`)
  await direct.complete(key, storeId, parts)
}

/** Makes the file ready. Does nothing when another process has done so. */
const finish = async (
  { db, jobs }: Pick<EndingDeps, 'db' | 'jobs'>,
  { orgId, fileId, blobId }: Verifying,
  measured: Measured,
): Promise<void> => {
  const attempt = (): Promise<void> =>
    db.transaction({ orgId }, async (db) => {
      if ((await queries.setState(db, orgId, fileId, { from: 'verifying', to: 'ready' })) === 0) return
      db.signal(uploadEnded, fileId)
      await queries.setBlobState(db, orgId, blobId, { from: 'part', to: 'writing' })
      const blob = await blobQueries.activateBlob(db, { orgId, blobId, ...measured })
      if (!blob) throw conflict('The bytes were deleted.')
      const row = await fileQueries.finishFile(db, orgId, fileId, { blobId: blob.id, sha256: measured.sha256 })
      if (!row) throw notFound('File')
      await recordChange(db, systemActor(orgId, 'Upload URL'), { before: row, after: row }, ['content'])
      if (blob.id === blobId) return
      // The org has these bytes already.
      await queries.setBlobState(db, orgId, blobId, { from: 'writing', to: 'unused' })
      await releaseLater(db, jobs, orgId)
    })
  try {
    await attempt()
  } catch (error) {
    // Another upload of the same bytes was committed in the meantime. The second attempt finds its blob.
    if (violatedConstraint(error) !== 'blobs_sha256_key') throw error
    await attempt()
  }
}

/** Ends an upload whose bytes are not those that were declared. */
const fail = async (deps: EndingDeps, { orgId, fileId, blobId, storeId }: Verifying, reason: string): Promise<void> => {
  await deps.db.transaction({ orgId }, async (db) => {
    const states = { from: 'verifying', to: 'failed', error: reason } as const
    if ((await queries.setState(db, orgId, fileId, states)) === 0) return
    db.signal(uploadEnded, fileId)
    await endUpload(db, deps, systemActor(orgId, 'Upload verification'), { fileId, blobId })
  })
  await abortLater(deps, deps.objects.direct, { orgId, blobId, storeId })
}

/** A store that takes longer to make an object than its client waits has neither the parts nor the object for a while. */
const attemptsWithoutObject = 6

// Other errors are temporary: the store or the database does not respond.
const isFinal = (error: unknown, attempt: number): error is ApiError =>
  error instanceof ApiError &&
  (error.code === 'BAD_REQUEST' ||
    error.code === 'CONFLICT' ||
    (error.code === 'NOT_FOUND' && attempt >= attemptsWithoutObject))

/** Verifies size, type and hash of an upload by reading it once, and makes its file ready. */
export const verify = async (
  deps: EndingDeps,
  { orgId, fileId }: { orgId: string; fileId: string },
  { signal, attempt }: Pick<JobContext, 'signal' | 'attempt'>,
): Promise<void> => {
  const { db, objects } = deps
  const found = await queries.findVerifying(db, orgId, fileId)
  if (!found) return
  if (found.isUseless) return endUseless(deps, orgId, found)
  const key = storageKeyOf(orgId, found.blobId)
  const { direct } = objects
  if (!direct) throw new Error('the object store of this process has no direct uploads')
  try {
    await makeObject(deps, direct, found)
    signal.throwIfAborted()
    // The upload was ended while the store made the object, which nothing else deletes then before the reconciliation.
    if (await queries.isDiscarded(db, orgId, found.blobId)) return await objects.delete(key)
    const source = await objects.get(key)
    const stop = (): void => void source.destroy(signal.reason as Error)
    signal.addEventListener('abort', stop)
    const { mimeType, sizeBytes } = found
    const measured = await measure(source as AsyncIterable<Buffer>, { mimeType, sizeBytes }).finally(() => {
      signal.removeEventListener('abort', stop)
      source.destroy()
    })
    await finish(deps, found, measured)
  } catch (error) {
    const left = await queries.findVerifying(db, orgId, fileId)
    if (!left) return
    // Its file was deleted in the meantime: another attempt would read the bytes in vain.
    if (left.isUseless) return endUseless(deps, orgId, left)
    if (!isFinal(error, attempt)) throw error
    await fail(deps, found, error.message)
  }
}

export type VerifyJobs = Pick<Jobs, 'work' | 'enqueue' | 'unattended'>

export const registerVerification = (jobs: VerifyJobs, deps: EndingDeps): void => {
  jobs.work(verifyUpload, (payload, context) => verify(deps, payload, context), { concurrency })
}

/** Enqueues the verification of uploads whose job is lost or has failed for good. */
export const resumeVerification = async (db: Database, jobs: VerifyJobs): Promise<void> => {
  const waiting = await queries.listVerifying(db, 1_000)
  for (const payload of waiting.length === 0 ? [] : await jobs.unattended(verifyUpload, waiting)) {
    const { orgId, fileId } = payload
    await db.transaction({ orgId }, (db) => jobs.enqueue(db, verifyUpload, payload, { singletonKey: fileId }))
  }
}
