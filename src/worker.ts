import type { Deps } from './deps.ts'
import { registerFileJobs } from './files/reconciliation.ts'
import { registerSignInExpiry } from './identity/expiry.ts'
import { registerKeyExpiry } from './platform/idempotency.ts'
import { registerSessionJobs } from './sessions/jobs.ts'

/** Every job handler and every schedule, listed by hand. Call it before `deps.jobs.start`. */
export const registerJobs = (deps: Deps): void => {
  const { db, jobs } = deps
  registerKeyExpiry(jobs, db)
  registerSignInExpiry(jobs, db)
  registerFileJobs(jobs, deps)
  registerSessionJobs(deps)
}
