import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { deleteUnusedApps } from '../apps/queries.ts'
import { endExpired } from '../members/invitations.ts'
import { deleteExpired } from './queries.ts'

const expireSignIns = defineJob<Record<string, never>>('sign-in.expire')

/**
 * Every hour, ends expired invitations and deletes expired sessions, challenges, links, step-up tokens, counts of attempts
 * and authorizations of apps that were never used.
 */
export const registerSignInExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireSignIns, async () => {
    await deleteExpired(db)
    await deleteUnusedApps(db)
    await endExpired(db)
  })
  jobs.schedule(expireSignIns, '43 * * * *')
}
