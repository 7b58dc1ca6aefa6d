import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { deleteExpired } from './queries.ts'

const expireSignIns = defineJob<Record<string, never>>('sign-in.expire')

/** Deletes expired sessions, challenges, links, step-up tokens and counts of attempts, every hour. */
export const registerSignInExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireSignIns, async () => {
    await deleteExpired(db)
  })
  jobs.schedule(expireSignIns, '43 * * * *')
}
