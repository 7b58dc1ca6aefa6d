import { createFairQueue } from '../../process/fair-queue.ts'
import { serviceUnavailable } from '../errors.ts'

const queue = createFairQueue({
  // Less than the connections of the pool, so that searches of large orgs leave some to other requests.
  running: 2,
  runningPerGroup: 1,
  waiting: 100,
  waitingPerGroup: 10,
  busy: () =>
    serviceUnavailable('Too many searches right now. Try again shortly.', { headers: { 'retry-after': '5' } }),
})

/**
 * Runs a search whose statements may take seconds in a large org: one at a time of an org, two of a process. Throws
 * SERVICE_UNAVAILABLE when too many wait.
 */
export const inSearchQueue = <T>(orgId: string, search: () => Promise<T>): Promise<T> =>
  queue.run(search, { group: orgId })
