import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import type { Alongside, Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { listAbandoned } from '../turns/claim-queries.ts'
import { turnLeaseTiming } from './claim-turn.ts'
import { requeueTurns } from './orphaned-turns.ts'

const checkMs = 5_000

/**
 * Enqueues a job for each turn whose worker died and that has none, because it started in the process that created it. A
 * lease lasts 15 s, so another worker continues such a turn at most 20.5 s after the kill, as with jobs. A process looks
 * only after it could itself reach the database for the length of a lease: after an outage every lease has expired, and
 * its worker lives.
 */
export const createDeadWorkerCheck = (deps: { db: Database; jobs: Jobs; log: Log }): Alongside => {
  const stopping = new AbortController()
  let watchingSinceMs: number | undefined
  let checkedAtMs = 0
  let loop: Promise<void> = Promise.resolve()

  const check = async (): Promise<void> => {
    const nowMs = performance.now()
    if (nowMs - checkedAtMs > checkMs * 2) watchingSinceMs = undefined
    checkedAtMs = nowMs
    try {
      const abandoned = await listAbandoned(deps.db, 1_000)
      watchingSinceMs ??= nowMs
      if (nowMs - watchingSinceMs >= turnLeaseTiming.leaseMs) await requeueTurns(deps, abandoned)
    } catch (error) {
      watchingSinceMs = undefined
      deps.log.warn({ err: error }, 'the check for turns of dead workers failed and will be repeated')
    }
  }

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await check()
      await delay(checkMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    start: () => {
      loop = run()
    },
    stop: async () => {
      stopping.abort()
      await loop
    },
  }
}
