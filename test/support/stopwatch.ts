import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/platform/database/database.ts'
import type { Database } from '../../src/platform/database/database.ts'

export interface Stopwatch {
  /** Milliseconds since the start, without delays caused by a busy machine. */
  ms(): number
  stop(): void
}

const pauseMs = 20
const queryMs = 5

/**
 * Measures a duration for guarantees with a time limit. A busy machine delays timers and queries; the delay is measured
 * continuously and subtracted. Without a database, as where it is the one that fails, by timers only.
 */
export const startStopwatch = (db?: Database): Stopwatch => {
  const beganMs = performance.now()
  let waitedMs = 0
  let probeBeganMs = beganMs
  let stopped = false
  const lateMs = (): number => Math.max(0, performance.now() - probeBeganMs - pauseMs - queryMs)
  void (async () => {
    while (!stopped) {
      probeBeganMs = performance.now()
      await delay(pauseMs)
      await db?.row(sql`select 1 as one`).catch(() => undefined)
      waitedMs += lateMs()
    }
  })()
  return {
    ms: () => performance.now() - beganMs - waitedMs - lateMs(),
    stop: () => {
      stopped = true
    },
  }
}

/** The duration of `work` by a stopwatch. */
export const timed = async (db: Database | undefined, work: () => Promise<unknown>): Promise<number> => {
  const stopwatch = startStopwatch(db)
  try {
    await work()
    return stopwatch.ms()
  } finally {
    stopwatch.stop()
  }
}
