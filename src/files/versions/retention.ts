import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { releaseLater } from '../blobs/blobs.ts'
import * as queries from './queries.ts'
import type { Retention, RetentionRow } from './queries.ts'

/** How versions of an org are kept: as it has set, otherwise as the server is configured. */
export const retentionOf = async (db: Db, orgId: string, defaults: Retention): Promise<Retention> => {
  const set = await queries.findRetention(db, orgId)
  return {
    versionsKept: set?.versionsKept ?? defaults.versionsKept,
    versionsDays: set?.versionsDays ?? defaults.versionsDays,
  }
}

/** What an org has set, and what applies. */
export const getRetention = async (db: Db, orgId: string, { versionsKept, versionsDays }: Retention) => {
  const effective = await retentionOf(db, orgId, { versionsKept, versionsDays })
  return { ...effective, defaults: { versionsKept, versionsDays } }
}

/** Sets how versions of an org are kept. Null: as the server is configured; undefined: unchanged. */
export const setRetention = (db: Database, actor: Actor, patch: Partial<RetentionRow>): Promise<void> =>
  db.transaction(actor, async (db) => {
    const after = await queries.setRetention(db, actor.orgId, patch)
    if (!after) throw new Error('the statement returned no row')
    await audit(db, actor, 'file.retention-updated', { type: 'file', id: null, details: { ...after } })
  })

const batch = 500

export interface SweepDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  config: { retention: Retention }
}

const settle = ({ db, jobs, config }: SweepDeps, orgId: string, fileId: string): Promise<boolean> =>
  db.transaction({ orgId }, async (db) => {
    // A file in the trash keeps its versions until it is restored.
    if (!(await queries.lockForRetention(db, orgId, fileId))) return false
    const retention = await retentionOf(db, orgId, config.retention)
    const deleted = await queries.settleVersions(db, orgId, fileId, { ...retention, addedBytes: 0 })
    if (deleted > 0) await releaseLater(db, jobs, orgId)
    return deleted > 0
  })

/** Deletes the versions whose time is over. It can be interrupted anywhere, and run by several processes at once. */
export const deleteDueVersions = async (deps: SweepDeps, signal?: AbortSignal): Promise<void> => {
  const { db, config } = deps
  const days = config.retention.versionsDays
  const set = (await queries.findLeastDays(db))?.days ?? null
  if (days === 0 && set === null) return
  const leastDays = Math.min(days === 0 ? Infinity : days, set ?? Infinity)
  for (;;) {
    signal?.throwIfAborted()
    const due = await queries.listDue(db, { leastDays, days, limit: batch })
    let settled = 0
    for (const { orgId, fileId } of due) if (await settle(deps, orgId, fileId)) settled += 1
    if (due.length < batch || settled === 0) return
  }
}

const hourly = defineJob<Record<string, never>>('files.delete-due-versions', { retryLimit: 2, timeoutSeconds: 3_600 })

export const registerVersionJobs = (
  worker: Pick<Jobs, 'work' | 'schedule' | 'enqueue'>,
  { db, config }: Omit<SweepDeps, 'jobs'>,
): void => {
  worker.work(hourly, (_payload, { signal }) => deleteDueVersions({ db, config, jobs: worker }, signal))
  worker.schedule(hourly, '52 * * * *')
}
