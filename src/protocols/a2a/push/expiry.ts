import type { Database } from '../../../platform/database/database.ts'
import { defineJob } from '../../../platform/jobs/jobs.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { deleteOld } from './queries.ts'

export const expireConfigs = defineJob<Record<string, never>>('a2a.expire-push-configs')

/** Longer than the default schedule of retries, which takes 29 hours. A task that waits for a person may take longer. */
const age = { endedDays: 7, days: 90, limit: 5_000 }

/** Deletes the configurations of tasks that ended days ago or never ended, every day. */
export const registerPushExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(
    expireConfigs,
    async (_payload, { signal }) => {
      do signal.throwIfAborted()
      while ((await deleteOld(db, age)) > 0)
    },
    { concurrency: 1 },
  )
  jobs.schedule(expireConfigs, '37 1 * * *')
}
