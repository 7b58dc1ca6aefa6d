import { systemActor } from '../../identity/actor.ts'
import type { EventAuthor } from '../../outbox/record.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { DirectUploads, ObjectStore } from '../../platform/object-store/object-store.ts'
import type { Log } from '../../platform/process/log.ts'
import { releaseLater, storageKeyOf } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import { recordDeletedFiles } from '../events.ts'
import * as queries from './queries.ts'

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
