import { AsyncLocalStorage } from 'node:async_hooks'
import { createFairQueue } from '../process/fair-queue.ts'
import type { Resolve, Resolved } from './name-resolution.ts'

/** A look-up takes up to 3 s when a name server does not respond, and one or two UDP sockets. */
const lookups = {
  perOrg: 16,
  perDomain: 8,
  inAll: 512,
  waitingPerOrg: 256,
  waitingPerDomain: 192,
  waitingInAll: 16_384,
}
/** Of the 10 s for look-up and connection, 6 s remain after the wait: 3 s for each. */
const lookupWaitMs = 4_000

/** The org of the current look-up: a connector of the HTTP client knows the host only, not the request. */
const caller = new AsyncLocalStorage<string | undefined>()

/** Counts the look-ups of the work for the org. */
export const lookUpFor = <T>(orgId: string | undefined, work: () => T): T => caller.run(orgId, work)

/**
 * The last two labels: the names below them mostly have the same name servers. Names below a suffix such as co.uk share
 * a limit, which delays them only while eight of them do not respond.
 */
const domainOf = (hostname: string): string => hostname.replace(/\.$/, '').toLowerCase().split('.').slice(-2).join('.')

/** Limits concurrent look-ups, for each org, for each domain within an org, and in total. */
export const limitLookups = (resolve: Resolve): Resolve => {
  const queue = createFairQueue({
    running: lookups.inAll,
    runningPerGroup: lookups.perOrg,
    waiting: lookups.waitingInAll,
    waitingPerGroup: lookups.waitingPerOrg,
    runningPerMember: lookups.perDomain,
    waitingPerMember: lookups.waitingPerDomain,
    busy: () => new Error('too many name look-ups of the org are waiting'),
  })
  /** Look-ups under way and waiting, by org and name: a name that does not respond takes one place of its org. */
  const underWay = new Map<string, Promise<Resolved[]>>()
  return (hostname) => {
    const group = caller.getStore()
    const key = JSON.stringify([group, hostname])
    const known = underWay.get(key)
    if (known) return known
    const work = { group, member: domainOf(hostname), signal: AbortSignal.timeout(lookupWaitMs) }
    const found = queue.run(() => resolve(hostname), work).finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
}
