import type { Database } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import * as queries from './verify-queries.ts'

/** A counter that differs from the stored rows. */
export interface Drift {
  orgId: string
  quota: 'storedBytes' | 'files' | 'eventsKept'
  counted: number
  found: number
  /** Set for `eventsKept`, which has a counter per day. */
  day?: string
  /** Only the counter of the part that is in the trash. */
  isTrash?: boolean
}

const driftsOf = (orgId: string, figures: queries.FileDrift): Drift[] => {
  const drifts: Drift[] = []
  const add = (quota: Drift['quota'], counted: bigint, found: bigint, isTrash: boolean): void => {
    if (counted === found) return
    drifts.push({ orgId, quota, counted: Number(counted), found: Number(found), ...(isTrash ? { isTrash } : {}) })
  }
  add('files', figures.countedFiles, figures.foundFiles, false)
  add('storedBytes', figures.countedBytes, figures.foundBytes, false)
  add('files', figures.countedTrashedFiles, figures.foundTrashedFiles, true)
  add('storedBytes', figures.countedTrashedBytes, figures.foundTrashedBytes, true)
  return drifts
}

/** Compares the counters of an org with its rows, and corrects them when `repair` is set. */
export const verifyUsage = (db: Database, orgId: string, { repair }: { repair: boolean }): Promise<Drift[]> =>
  db.transaction({ orgId }, async (db) => {
    await queries.removeStatementTimeout(db)
    await queries.lockReconciliation(db, orgId)
    const drifts: Drift[] = []
    const files = await queries.findFileDrift(db, orgId)
    if (files) {
      drifts.push(...driftsOf(orgId, files))
      if (repair && drifts.length > 0) {
        // The difference is added, so that concurrent changes of the counters are kept.
        await queries.addFileUsage(db, orgId, {
          files: files.foundFiles - files.countedFiles,
          bytes: files.foundBytes - files.countedBytes,
          trashedFiles: files.foundTrashedFiles - files.countedTrashedFiles,
          trashedBytes: files.foundTrashedBytes - files.countedTrashedBytes,
        })
      }
    }
    for (const { day, countedEvents, foundEvents } of await queries.listEventDrift(db, orgId)) {
      const figures = { counted: Number(countedEvents), found: Number(foundEvents) }
      drifts.push({ orgId, quota: 'eventsKept', ...figures, day })
      if (repair) await queries.addEventUsage(db, orgId, day, foundEvents - countedEvents)
    }
    return drifts
  })

/** Verifies the counters of every org. */
export const verifyAllUsage = async (
  db: Database,
  options: { repair: boolean; signal?: AbortSignal },
): Promise<{ orgs: number; drifts: Drift[] }> => {
  const orgs = await queries.listOrgs(db)
  const drifts: Drift[] = []
  for (const { orgId } of orgs) {
    options.signal?.throwIfAborted()
    drifts.push(...(await verifyUsage(db, orgId, options)))
  }
  return { orgs: orgs.length, drifts }
}

export const reconcileUsage = defineJob<Record<string, never>>('quotas.reconcile', {
  retryLimit: 2,
  timeoutSeconds: 3_600,
})

export const registerQuotaJobs = (
  jobs: Pick<Jobs, 'work' | 'schedule'>,
  { db, log }: { db: Database; log: Log },
): void => {
  jobs.work(reconcileUsage, async (_payload, { signal }) => {
    const { drifts } = await verifyAllUsage(db, { repair: true, signal })
    for (const drift of drifts) log.warn(drift, 'a usage counter was wrong and was corrected')
  })
  jobs.schedule(reconcileUsage, '47 2 * * *')
}
