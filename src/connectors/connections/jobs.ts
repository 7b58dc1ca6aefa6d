import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { expireStates } from '../oauth/queries.ts'
import * as queries from '../queries.ts'
import type { AccessDeps } from '../oauth/refresh.ts'
import { giveGrantBack } from '../oauth/revocation.ts'
import { revokeAtProvider } from '../oauth/revocation-job.ts'

export const expireConnections = defineJob<Record<string, never>>('connection.expire')
const expireBatch = 1_000

/** What happens to connections by themselves: grants are given back, and what nobody completed ends. */
export const registerConnectionJobs = (jobs: Jobs, deps: AccessDeps): void => {
  jobs.work(revokeAtProvider, (ref, { isLastAttempt }) => giveGrantBack(deps, ref, { isLast: isLastAttempt }))
  jobs.schedule(expireConnections, '*/5 * * * *')
  jobs.work(expireConnections, async () => {
    await expireStates(deps.db)
    while ((await queries.expireConnections(deps.db, expireBatch)) === expireBatch);
  })
}
