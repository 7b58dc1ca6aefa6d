import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as queries from '../members/person-queries.ts'

const expireSignIns = defineJob<Record<string, never>>('sign-in.expire')

/** Removes what nobody can sign in with any more, every hour: it is refused by its expiry already. */
export const registerSignInExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireSignIns, async () => {
    await queries.deleteExpired(db)
  })
  jobs.schedule(expireSignIns, '43 * * * *')
}
