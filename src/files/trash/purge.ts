import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { releaseLater } from '../blobs/blobs.ts'
import * as queries from './queries.ts'

export interface PurgeDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
}

const maxEntries = 500
const maxFiles = 1_000

/** Purges the files of an org whose time in the trash is over. */
export const purgeTrash = defineJob<{ orgId: string }>('files.purge-trash', {
  retryDelayMaxSeconds: 60,
  timeoutSeconds: 3_600,
})

/**
 * Purges a batch of files that are due, in one transaction, so that a folder of any size does not lock its rows for long.
 * The entry is deleted with its last files: a purge that is interrupted continues where it stopped. Returns whether there
 * may be more.
 */
const purgeBatch = ({ db, jobs }: PurgeDeps, orgId: string): Promise<boolean> =>
  db.transaction({ orgId }, async (db) => {
    const entries = (await queries.lockDue(db, orgId, maxEntries)).map(({ id }) => id)
    if (entries.length === 0) return false
    const purged = await queries.purgeFiles(db, orgId, entries, maxFiles)
    // A request that began before their time was over must not restore what is left.
    if (purged < maxFiles) await queries.deleteEntries(db, orgId, entries)
    else await queries.expireDue(db, orgId, entries)
    await releaseLater(db, jobs, orgId)
    return purged === maxFiles || entries.length === maxEntries
  })

/** Purges what is due. It can be interrupted anywhere, run again, and run by several processes at the same time. */
export const purgeDue = async (
  deps: PurgeDeps,
  orgId: string,
  { maxBatches = Infinity, signal }: { maxBatches?: number; signal?: AbortSignal } = {},
): Promise<void> => {
  for (let batch = 0; batch < maxBatches; batch += 1) {
    signal?.throwIfAborted()
    if (!(await purgeBatch(deps, orgId))) return
  }
}

const hourly = defineJob<Record<string, never>>('files.purge-due-trash', { retryLimit: 2 })

export const registerTrashJobs = (
  worker: Pick<Jobs, 'work' | 'schedule' | 'enqueue'>,
  { db }: { db: Database },
): void => {
  worker.work(purgeTrash, ({ orgId }, { signal }) => purgeDue({ db, jobs: worker }, orgId, { signal }))
  worker.work(hourly, async () => {
    for (const { orgId } of await queries.listDueOrgs(db)) {
      await db.transaction({ orgId }, (db) => worker.enqueue(db, purgeTrash, { orgId }, { singletonKey: orgId }))
    }
  })
  worker.schedule(hourly, '37 * * * *')
}
