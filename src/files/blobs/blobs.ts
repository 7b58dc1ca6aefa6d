import type { Database, Transaction } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import { deletePurgedVersions } from '../versions/queries.ts'
import * as queries from './queries.ts'

const batch = 500
const concurrentDeletes = 16

/** The key of an object in the store. It has no file name in it, so every name can be stored and none acts as a path. */
export const storageKeyOf = (orgId: string, blobId: string): string => `${orgId}/${blobId}`

/** Deletes the blobs of an org's purged files and deleted versions that no other file uses, in the trash or not. */
export const releaseBytes = defineJob<{ orgId: string }>('files.release-bytes', { retryDelayMaxSeconds: 30 })

/** Enqueues the job in the transaction that deletes or purges files or versions. One waiting job per org is enough. */
export const releaseLater = (db: Transaction, jobs: Pick<Jobs, 'enqueue'>, orgId: string): Promise<void> =>
  jobs.enqueue(db, releaseBytes, { orgId }, { singletonKey: orgId })

/** Marks those of these blobs as unused that no file uses, and clears the purged files' references to them. */
export const markOrphans = (db: Database, orgId: string, ids: string[]): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    await queries.lockBlobs(db, orgId, ids)
    // A separate statement, because it sees what was committed while the locks were awaited.
    await queries.markOrphans(db, orgId, ids)
  })

/** Runs `work` for all items, at most `concurrency` at a time. */
export const forEachConcurrently = async <T>(
  concurrency: number,
  items: T[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const left = items.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/**
 * Deletes the blobs that no file of the org uses: the object first, then its row. It can be interrupted anywhere, run
 * again, and run by several processes at the same time.
 */
export const releaseUnused = async (db: Database, objects: ObjectStore, orgId: string): Promise<void> => {
  for (;;) {
    await deletePurgedVersions(db, orgId, batch)
    const unreleased = (await queries.listUnreleased(db, orgId, batch)).map(({ id }) => id)
    if (unreleased.length > 0) await markOrphans(db, orgId, unreleased)
    const unused = (await queries.listUnused(db, orgId, batch)).map(({ id }) => id)
    if (unreleased.length + unused.length === 0) return
    await forEachConcurrently(concurrentDeletes, unused, (id) => objects.delete(storageKeyOf(orgId, id)))
    if (unused.length > 0) await queries.deleteUnused(db, orgId, unused)
  }
}
