import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { AccessDeps } from '../deps.ts'
import { expireStates } from '../oauth/queries.ts'
import { revokeAtProvider } from '../oauth/revocation-job.ts'
import { revokeStoredGrant } from '../oauth/revocation.ts'
import * as queries from './queries.ts'

export const expireConnections = defineJob<Record<string, never>>('connection.expire')
const expireBatch = 1_000

/**
 * Revokes grants at providers, and every five minutes expires connections and OAuth states that were not completed in
 * time.
 */
export const registerConnectionJobs = (jobs: Jobs, deps: AccessDeps): void => {
  jobs.work(revokeAtProvider, (ref, { isLastAttempt }) => revokeStoredGrant(deps, ref, { isLast: isLastAttempt }))
  jobs.schedule(expireConnections, '*/5 * * * *')
  jobs.work(expireConnections, async () => {
    await expireStates(deps.db)
    while ((await queries.expireConnections(deps.db, expireBatch)) === expireBatch);
  })
}
