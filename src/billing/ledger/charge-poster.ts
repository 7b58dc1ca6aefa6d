import type { Log } from '../../platform/process/log.ts'
import { postPending } from './ledger.ts'
import type { LedgerDeps } from './ledger.ts'

/** Posts pending charges in the background, one run per org at a time, however many charges ask for it. */
export interface ChargePoster {
  /** Call it after charges of the org are committed. A reader who comes before they are posted posts them itself. */
  postSoon(orgId: string): void
  /** Accepts no more orgs and waits for runs in progress. The sweep of jobs.ts posts what is left. */
  close(): Promise<void>
}

// Long enough that the turns of a busy org share a run: it takes six statements. Balances include pending charges.
const delayMs = 500

export const createChargePoster = ({ log, ...deps }: LedgerDeps & { log: Log }): ChargePoster => {
  const scheduled = new Map<string, NodeJS.Timeout>()
  const running = new Map<string, Promise<void>>()
  let closed = false
  const run = (orgId: string): void => {
    scheduled.delete(orgId)
    // The current run may have read the inbox before the charge was committed.
    if (running.has(orgId)) return postSoon(orgId)
    const posting = postPending(deps, orgId)
      .catch((error: unknown) => log.warn({ err: error, orgId }, 'charges could not be posted and wait for the sweep'))
      .finally(() => running.delete(orgId))
    running.set(orgId, posting)
    return undefined
  }
  const postSoon = (orgId: string): void => {
    if (closed || scheduled.has(orgId)) return
    scheduled.set(orgId, setTimeout(run, delayMs, orgId).unref())
  }
  return {
    postSoon,
    close: async () => {
      closed = true
      for (const timer of scheduled.values()) clearTimeout(timer)
      scheduled.clear()
      await Promise.all(running.values())
    },
  }
}
