import type { Database, Transaction } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import * as queries from './blob-queries.ts'
import { storageKeyOf } from './uploads.ts'

const batch = 500
const deletesAtOnce = 16

/** Looks which of the bytes that deleted files of an org had are used by no other file, and removes those. */
export const releaseBytes = defineJob<{ orgId: string }>('files.release-bytes', { retryDelayMaxSeconds: 30 })

/** For the transaction that deletes files: one look an org is enough, however many it deletes. */
export const releaseLater = (db: Transaction, jobs: Pick<Jobs, 'enqueue'>, orgId: string): Promise<void> =>
  jobs.enqueue(db, releaseBytes, { orgId }, { singletonKey: orgId })

/** Condemns those of these blobs that no live file uses, and lets the deleted files that had them go. */
export const condemnOrphans = (db: Database, orgId: string, ids: string[]): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    await queries.lockBlobs(db, orgId, ids)
    // A statement of its own: it sees what was committed while the locks were waited for.
    await queries.condemnOrphans(db, orgId, ids)
  })

/** Works through `items`, so many at a time. */
export const eachAtOnce = async <T>(atOnce: number, items: T[], work: (item: T) => Promise<void>): Promise<void> => {
  const left = items.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/**
 * Removes the bytes that no file of the org uses any more: the object first, then the row that knows of it. May be cut
 * off anywhere and run again, and by several processes at once.
 */
export const releaseUnused = async (db: Database, objects: ObjectStore, orgId: string): Promise<void> => {
  for (;;) {
    const unreleased = (await queries.listUnreleased(db, orgId, batch)).map(({ id }) => id)
    if (unreleased.length > 0) await condemnOrphans(db, orgId, unreleased)
    const condemned = (await queries.listCondemned(db, orgId, batch)).map(({ id }) => id)
    if (unreleased.length + condemned.length === 0) return
    await eachAtOnce(deletesAtOnce, condemned, (id) => objects.delete(storageKeyOf(orgId, id)))
    if (condemned.length > 0) await queries.deleteCondemned(db, orgId, condemned)
  }
}
