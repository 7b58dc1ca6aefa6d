import { systemActor } from '../../identity/actor.ts'
import type { EventAuthor } from '../../outbox/record.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { DirectUploads, ObjectStore } from '../../platform/object-store/object-store.ts'
import type { Log } from '../../platform/process/log.ts'
import { releaseLater, storageKeyOf } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import { recordDeletedFiles } from '../events.ts'
import * as queries from './queries.ts'
import type { UselessRow } from './queries.ts'

export interface EndingDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  objects: ObjectStore
  log: Log
}

/** Ends an upload in the store. Never throws: the nightly reconciliation aborts those that no row has. */
export const abortLater = async (
  { log }: Pick<EndingDeps, 'log'>,
  direct: DirectUploads | undefined,
  { orgId, blobId, storeId }: { orgId: string; blobId: string; storeId: string },
): Promise<void> => {
  try {
    await direct?.abort(storageKeyOf(orgId, blobId), storeId)
  } catch (error) {
    log.warn({ err: error, orgId, blobId }, 'could not abort a direct upload; the reconciliation will')
  }
}

/** Deletes the pending file of an upload and marks its bytes as unused. */
export const endUpload = async (
  db: Transaction,
  { jobs }: Pick<EndingDeps, 'jobs'>,
  author: EventAuthor & { orgId: string },
  ended: { fileId: string; blobId: string },
): Promise<void> => {
  const deleted = await blobQueries.deleteUnfinished(db, author.orgId, [ended.fileId])
  await recordDeletedFiles(db, author, deleted)
  await queries.setBlobState(db, author.orgId, ended.blobId, { from: 'part', to: 'unused' })
  await releaseLater(db, jobs, author.orgId)
}

const batch = 500

/** Ends the uploads of an org whose files were deleted. Until then they count as unfinished. */
const endUploads = defineJob<{ orgId: string }>('files.end-uploads', { retryDelayMaxSeconds: 60 })

/** Enqueues the job, when there is something to end, in the transaction that deletes files or a folder. */
export const endLater = async (db: Transaction, jobs: EndingDeps['jobs'], orgId: string): Promise<void> => {
  const [found] = await queries.listUseless(db, orgId, 1)
  if (found) await jobs.enqueue(db, endUploads, { orgId }, { singletonKey: orgId })
}

/** Ends the upload of a deleted file: in the store first, so that its row is left when the store does not respond. */
export const endUseless = async (
  { db, jobs, objects }: EndingDeps,
  orgId: string,
  { fileId, blobId, storeId }: UselessRow,
): Promise<void> => {
  await objects.direct?.abort(storageKeyOf(orgId, blobId), storeId)
  await db.transaction({ orgId }, async (db) => {
    if ((await queries.deleteUseless(db, orgId, fileId)) === 0) return
    await queries.setBlobState(db, orgId, blobId, { from: 'part', to: 'unused' })
    await releaseLater(db, jobs, orgId)
  })
}

const endAllUseless = async (deps: EndingDeps, orgId: string): Promise<void> => {
  for (;;) {
    const listed = await queries.listUseless(deps.db, orgId, batch)
    for (const upload of listed) await endUseless(deps, orgId, upload)
    if (listed.length < batch) return
  }
}

export const registerEnding = (jobs: Pick<Jobs, 'work' | 'enqueue'>, deps: EndingDeps): void => {
  jobs.work(endUploads, ({ orgId }) => endAllUseless(deps, orgId))
}

/** Enqueues the job for all orgs: it may have failed for good, or a server of an earlier version deleted the files. */
export const resumeEnding = async ({ db, jobs }: Pick<EndingDeps, 'db' | 'jobs'>): Promise<void> => {
  for (const { orgId } of await queries.listOrgsWithUseless(db)) {
    await db.transaction({ orgId }, (db) => endLater(db, jobs, orgId))
  }
}

/** Deletes uploads that nobody has completed in time, and forgets those that ended. Returns their number. */
export const removeExpired = async (deps: EndingDeps): Promise<number> => {
  const { db, objects } = deps
  let removed = 0
  for (;;) {
    const listed = await queries.listExpired(db, batch)
    let removedNow = 0
    for (const { orgId, fileId } of listed) {
      const row = await db.transaction({ orgId }, async (db) => {
        const deleted = await queries.deleteExpired(db, orgId, fileId)
        const author = systemActor(orgId, 'Upload expiry')
        if (deleted?.state === 'open') await endUpload(db, deps, author, { fileId, blobId: deleted.blobId })
        return deleted
      })
      if (row?.state === 'open') await abortLater(deps, objects.direct, { orgId, ...row })
      if (row) removedNow += 1
    }
    removed += removedNow
    if (listed.length < batch || removedNow === 0) return removed
  }
}
