import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { AccessDeps, AttemptForOrg } from '../deps.ts'
import { expireStates } from '../oauth/queries.ts'
import { revokeAtProvider, sweepConnections } from '../oauth/revocation-job.ts'
import { revokeStoredGrant, sweepPending } from '../oauth/revocation.ts'
import { revokeOfFormerMembers } from './former-members.ts'
import * as queries from './queries.ts'

export const expireConnections = defineJob<Record<string, never>>('connection.expire')
const expireBatch = 1_000

const expireOverdue = async (db: Database, attempt: AttemptForOrg): Promise<void> => {
  for (;;) {
    const overdue = await queries.listOverdue(db, expireBatch)
    let expired = 0
    for (const [orgId, connections] of Map.groupBy(overdue, (connection) => connection.orgId)) {
      const ids = connections.map(({ id }) => id)
      await attempt(orgId, async () => {
        expired += await queries.expireConnections(db, orgId, ids)
      })
    }
    // The rest is locked, because somebody is completing it.
    if (overdue.length < expireBatch || expired === 0) return
  }
}

/**
 * Revokes grants at providers. Looks every hour for connections of former members and for revocations without a job, and
 * every five minutes expires connections and OAuth states that were not completed in time.
 */
export const registerConnectionJobs = (jobs: Jobs, deps: AccessDeps): void => {
  // The next run tries again.
  const attempt: AttemptForOrg = async (orgId, work) => {
    try {
      await work()
    } catch (error) {
      deps.log.error({ err: error, orgId }, 'the connections of an org could not be swept')
    }
  }
  jobs.work(revokeAtProvider, (ref, { isLastAttempt, signal }) =>
    revokeStoredGrant(deps, ref, { isLast: isLastAttempt, signal }),
  )
  jobs.schedule(sweepConnections, '47 * * * *')
  jobs.work(sweepConnections, async () => {
    await revokeOfFormerMembers(deps.db, jobs, attempt)
    await sweepPending(deps, jobs, attempt)
  })
  jobs.schedule(expireConnections, '*/5 * * * *')
  jobs.work(expireConnections, async () => {
    await expireStates(deps.db)
    await expireOverdue(deps.db, attempt)
  })
}
