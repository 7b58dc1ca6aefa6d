import type { Deps } from './deps.ts'
import { registerKeyExpiry } from './platform/idempotency.ts'

/** Every job handler and every schedule, listed by hand. Call it before `deps.jobs.start`. */
export const registerJobs = ({ db, jobs }: Deps): void => {
  registerKeyExpiry(jobs, db)
}
