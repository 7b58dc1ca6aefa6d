import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

/** A unit of work that can fail alone: a turn, a tool call, a job, a delivery. */
export interface Unit {
  kind: 'turn' | 'tool' | 'job' | 'delivery'
  id: string
  /** Null for jobs of the server. */
  orgId: string | null
}

/** A record of the running units, for the watchdog to read while the event loop is blocked. */
export interface UnitTable {
  /** Returns the argument for `remove`. */
  add(unit: Unit): number
  remove(place: number): void
}

/** An unhandled error in code that a unit started. The reason of the unit's signal. */
export class StrayError extends Error {
  constructor(cause: unknown) {
    super('an error was thrown where nothing handled it', { cause })
    this.name = 'StrayError'
  }
}

interface RunningUnit extends Unit {
  abort: (reason: StrayError) => void
  hasEnded: boolean
}

const current = new AsyncLocalStorage<RunningUnit>()
let table: UnitTable | undefined

export const useUnitTable = (given: UnitTable | undefined): void => {
  table = given
}

/**
 * Runs the work as a unit: an unhandled error of the work, in a promise or a callback, calls `abort` instead of ending the
 * process. Units can be nested; the error belongs to the innermost one.
 */
export const runUnit = async <T>(
  unit: Unit,
  abort: (reason: StrayError) => void,
  work: () => Promise<T>,
): Promise<T> => {
  const running: RunningUnit = { ...unit, abort, hasEnded: false }
  const notedIn = table
  const place = notedIn?.add(unit)
  try {
    return await current.run(running, work)
  } finally {
    running.hasEnded = true
    if (place !== undefined) notedIn?.remove(place)
  }
}

const counts = new Map<string, number>()

/** The number of unhandled errors since the start, by kind of unit. */
export const unhandledErrors = (): Map<string, number> => new Map(counts)

const ownerOf = (error: unknown, log: Log, origin: string): RunningUnit | undefined => {
  const unit = current.getStore()
  const kind = unit?.kind ?? 'unknown'
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const fields = { err: error, origin, unit: kind, unitId: unit?.id, orgId: unit?.orgId }
  log.error(
    fields,
    unit ? 'an unhandled error aborted its unit of work' : 'an unhandled error outside of a unit of work',
  )
  return unit
}

/**
 * Handles unhandled errors. When the unit is known, it is aborted and the others continue. A rejected promise without a
 * running unit is only logged, because it interrupted nothing. An exception without a running unit may have left a broken
 * state, so `stop` is called.
 */
export const guardProcess = (log: Log, stop: () => void): (() => void) => {
  const onRejection = (error: unknown): void => {
    const unit = ownerOf(error, log, 'unhandledRejection')
    if (unit && !unit.hasEnded) unit.abort(new StrayError(error))
  }
  const onException = (error: unknown): void => {
    const unit = ownerOf(error, log, 'uncaughtException')
    if (unit && !unit.hasEnded) unit.abort(new StrayError(error))
    else stop()
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}
