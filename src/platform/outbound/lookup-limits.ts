import { AsyncLocalStorage } from 'node:async_hooks'
import { createFairQueue } from '../process/fair-queue.ts'
import type { Resolve } from './name-resolution.ts'

/** A look-up takes up to 3 s when a name server does not respond, and one or two UDP sockets. */
const lookups = { perOrg: 16, inAll: 512, waitingPerOrg: 256, waitingInAll: 16_384 }
/** Of the 10 s for look-up and connection, 6 s remain after the wait: 3 s for each. */
const lookupWaitMs = 4_000

/** The org of the current look-up: a connector of the HTTP client knows the host only, not the request. */
const caller = new AsyncLocalStorage<string | undefined>()

/** Counts the look-ups of the work for the org. */
export const lookUpFor = <T>(orgId: string | undefined, work: () => T): T => caller.run(orgId, work)

/** Limits concurrent look-ups, for each org and in total. */
export const limitLookups = (resolve: Resolve): Resolve => {
  const queue = createFairQueue({
    running: lookups.inAll,
    runningPerGroup: lookups.perOrg,
    waiting: lookups.waitingInAll,
    waitingPerGroup: lookups.waitingPerOrg,
    busy: () => new Error('too many name look-ups of the org are waiting'),
  })
  return (hostname) =>
    queue.run(() => resolve(hostname), { group: caller.getStore(), signal: AbortSignal.timeout(lookupWaitMs) })
}
