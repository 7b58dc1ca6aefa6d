import type { Database } from '../../platform/database/database.ts'
import { dropExpired } from '../../platform/database/partitions.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { moveAnchors } from './chain.ts'
import { sealAll } from './sealer.ts'

const applyRetention = defineJob<Record<string, never>>('audit.retention')

/** Drops the months of the audit log that are older than `days` days. The chains then begin at their anchors. */
export const dropOldEntries = (db: Database, days: number): Promise<number> =>
  dropExpired(db, 'audit_log', {
    days,
    // Before the entries are gone, so that a chain is never without its beginning. A chain whose anchor has moved does
    // not depend on the entries before it.
    beforeDetach: async (endsAt) => {
      await sealAll(db)
      await moveAnchors(db, endsAt)
    },
  })

/** Applies the retention of the audit log every day. */
export const registerAuditRetention = (
  jobs: Jobs,
  { db, config }: { db: Database; config: { retention: { auditDays: number } } },
): void => {
  const { auditDays } = config.retention
  jobs.work(
    applyRetention,
    async () => {
      if (auditDays > 0) await dropOldEntries(db, auditDays)
    },
    { concurrency: 1 },
  )
  jobs.schedule(applyRetention, '27 1 * * *')
}
