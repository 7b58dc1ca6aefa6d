import { AsyncLocalStorage } from 'node:async_hooks'
import { createFairQueue } from '../process/fair-queue.ts'
import type { Resolve } from './name-resolution.ts'

/** A name server that is silent holds a look-up for 3 s. Each takes a UDP socket or two. */
const lookups = { perOrg: 16, inAll: 512, waitingPerOrg: 256, waitingInAll: 16_384 }
/** Leaves 3 s for the look-up and as much for the connection, of the ten that both may take. */
const lookupWaitMs = 4_000

/** Whose look-up it is: a connector of the HTTP client is told of the host only, not of the request. */
const caller = new AsyncLocalStorage<string | undefined>()

/** Counts the look-ups that the work makes for the org. */
export const lookUpFor = <T>(orgId: string | undefined, work: () => T): T => caller.run(orgId, work)

/** Limits the look-ups that are under way, for each org and in all. */
export const limitLookups = (resolve: Resolve): Resolve => {
  const queue = createFairQueue({
    running: lookups.inAll,
    runningPerGroup: lookups.perOrg,
    waiting: lookups.waitingInAll,
    waitingPerGroup: lookups.waitingPerOrg,
    busy: () => new Error('too many look-ups of the org wait'),
  })
  return (hostname) =>
    queue.run(() => resolve(hostname), { group: caller.getStore(), signal: AbortSignal.timeout(lookupWaitMs) })
}
