import type { Log } from '../../platform/process/log.ts'
import { settle } from './ledger.ts'
import type { LedgerDeps } from './ledger.ts'

/** Folds the charges of orgs in the background: one fold of an org at a time, whatever number of charges asked for it. */
export interface Settler {
  /** Charges of this org were committed. They are folded within a moment; whoever reads before that folds them first. */
  soon(orgId: string): void
  /** Takes nothing more, and waits for what is under way. What was not folded is found by the sweep. */
  close(): Promise<void>
}

// Long enough that a turn of several calls, or a hundred turns at once, are one fold.
const delayMs = 200

export const createSettler = ({ log, ...deps }: LedgerDeps & { log: Log }): Settler => {
  const waiting = new Map<string, NodeJS.Timeout>()
  const running = new Map<string, Promise<void>>()
  let closed = false
  const run = (orgId: string): void => {
    waiting.delete(orgId)
    // The one that runs may have looked before the charge was there.
    if (running.has(orgId)) return soon(orgId)
    const work = settle(deps, orgId)
      .catch((error: unknown) => log.warn({ err: error, orgId }, 'charges could not be folded and wait for the sweep'))
      .finally(() => running.delete(orgId))
    running.set(orgId, work)
    return undefined
  }
  const soon = (orgId: string): void => {
    if (closed || waiting.has(orgId)) return
    waiting.set(orgId, setTimeout(run, delayMs, orgId).unref())
  }
  return {
    soon,
    close: async () => {
      closed = true
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}
