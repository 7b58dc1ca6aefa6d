import type { Deps } from './deps.ts'
import { registerFileJobs } from './files/reconciliation.ts'

/** Every job handler and every schedule, listed by hand. Call it before `deps.jobs.start`. */
export const registerJobs = (deps: Deps): void => {
  registerFileJobs(deps.jobs, deps)
}
