import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { deleteUnusedApps } from '../apps/queries.ts'
import { deleteExpired } from './queries.ts'

const expireSignIns = defineJob<Record<string, never>>('sign-in.expire')

/** Deletes expired sessions, challenges, links, step-up tokens, counts of attempts and authorizations of apps that were never used, every hour. */
export const registerSignInExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireSignIns, async () => {
    await deleteExpired(db)
    await deleteUnusedApps(db)
  })
  jobs.schedule(expireSignIns, '43 * * * *')
}
