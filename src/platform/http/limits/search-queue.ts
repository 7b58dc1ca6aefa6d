import { createFairQueue } from '../../process/fair-queue.ts'
import { serviceUnavailable } from '../errors.ts'

const queue = createFairQueue({
  // Less than the connections of the pool, so that searches of large orgs leave some to other requests.
  running: 2,
  runningPerGroup: 1,
  waiting: 100,
  waitingPerGroup: 10,
  waitingPerMember: 5,
  busy: () =>
    serviceUnavailable('Too many searches right now. Try again shortly.', { headers: { 'retry-after': '5' } }),
})

/**
 * Runs a search, or another read, whose statements may take seconds in a large org: one at a time of an org, two of a
 * process. The people of an org take turns, and each has half of its waiting places. Throws SERVICE_UNAVAILABLE when too
 * many wait.
 */
export const inSearchQueue = <T>(
  { orgId, userId }: { orgId: string; userId: string },
  search: () => Promise<T>,
): Promise<T> => queue.run(search, { group: orgId, member: userId })
