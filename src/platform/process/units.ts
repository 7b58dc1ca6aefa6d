import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

/** A piece of work that can fail by itself: a turn, a call of a tool in it, a job, a delivery. */
export interface Unit {
  kind: 'turn' | 'tool' | 'job' | 'delivery'
  id: string
  /** Null for jobs of the server itself. */
  orgId: string | null
}

/** Where the units under way are written down, for whoever looks when this thread no longer can. */
export interface UnitTable {
  /** Answers what `remove` is to be given. */
  add(unit: Unit): number
  remove(place: number): void
}

/** An error in code that a unit started and that nobody waited for. The reason of the unit's signal. */
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
 * Does the work as a unit: an error that the work leaves unhandled, in a promise or in a callback, calls `abort` instead
 * of ending the process. Units may be nested; the innermost one counts.
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

/** How many errors were unhandled since the start, by the kind of unit that they belonged to. */
export const unhandledErrors = (): Map<string, number> => new Map(counts)

const ownerOf = (error: unknown, log: Log, origin: string): RunningUnit | undefined => {
  const unit = current.getStore()
  const kind = unit?.kind ?? 'unknown'
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const fields = { err: error, origin, unit: kind, unitId: unit?.id, orgId: unit?.orgId }
  log.error(fields, unit ? 'an unhandled error ends its unit of work' : 'an unhandled error belongs to no unit of work')
  return unit
}

/**
 * Keeps the process alive when an error is unhandled and its unit is known: the unit is aborted, the others go on. A
 * rejected promise without a known unit is logged: nothing was interrupted by it. An exception without a unit that is
 * still under way interrupted something unknown, whose state may be broken: `stop` is called.
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
