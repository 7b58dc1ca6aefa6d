import { createRecent } from './recent.ts'
import { isUuid } from '../../platform/ids.ts'
import { noWakeups } from '../../platform/wake/wakeups.ts'
import type { Wakeups } from '../../platform/wake/wakeups.ts'

/** Lines that were just committed to a turn's stream. */
export interface StreamUpdate {
  /** The number of the first line. */
  firstSeq: number
  lines: string[]
  /** Whether the stream ends here: the turn has ended, or waits for a person. */
  isEnd: boolean
}

export interface StreamListener {
  onUpdate(update: StreamUpdate): void
  /** Another process has probably written lines, which must be read from the database. */
  onHint(isEnd: boolean): void
  /** Whether it reads lines. False for a listener that only waits for the end. */
  readsLines: boolean
}

/** A turn that this process runs. */
export interface RunningTurn {
  /** Called when the turn is cancelled in this process. */
  stop(): void
  /** Called when another process may have cancelled the turn: reads from the database whether it has. */
  check(): void
}

/**
 * Notifies the streams of a turn: those of this process with the lines themselves, without a query, and those of other
 * processes that there are lines to read. Other processes poll the database as well.
 */
export interface TurnNotifier {
  /** Call it after the commit. */
  publish(turnId: string, update: StreamUpdate): void
  /** Returns a function that ends the subscription. */
  subscribe(turnId: string, listener: StreamListener): () => void
  /** Whether a listener, here or in another process, reads the lines as they are written. */
  isRead(turnId: string): boolean
  /** Registers a turn that this process runs. */
  work(turnId: string, turn: RunningTurn): () => void
  isWorking(turnId: string): boolean
  /** Whether other processes announce their lines, as far as this process knows. */
  hearsOthers(): boolean
  /** Ends the work on a cancelled turn, in whichever process it runs. Call it after the commit. */
  stop(turnId: string): void
}

/** Readers announce themselves this often, and are remembered for two to four times as long. */
const readersMs = 15_000
const maxReaders = 10_000

export const createTurnNotifier = (wakeups: Wakeups = noWakeups): TurnNotifier => {
  const listeners = new Map<string, Set<StreamListener>>()
  const working = new Map<string, RunningTurn>()
  const readElsewhere = createRecent({ keepMs: readersMs * 2, maxItems: maxReaders })
  let timer: NodeJS.Timeout | undefined

  const isReadHere = (turnId: string): boolean =>
    [...(listeners.get(turnId) ?? [])].some(({ readsLines }) => readsLines)

  const announceReaders = (): void => {
    timer = undefined
    for (const turnId of listeners.keys()) {
      if (isReadHere(turnId) && !working.has(turnId)) wakeups.publish('readers', turnId)
    }
    if (listeners.size > 0) timer = setTimeout(announceReaders, readersMs).unref()
  }

  wakeups.subscribe('readers', (turnId) => {
    if (isUuid(turnId)) readElsewhere.add(turnId)
  })
  wakeups.subscribe('stops', (turnId) => working.get(turnId)?.check())
  wakeups.subscribe('turns', (hint) => {
    const isEnd = hint.endsWith('!')
    const turnId = isEnd ? hint.slice(0, -1) : hint
    if (working.has(turnId)) return
    for (const listener of listeners.get(turnId) ?? []) listener.onHint(isEnd)
  })

  return {
    publish: (turnId, update) => {
      for (const listener of listeners.get(turnId) ?? []) listener.onUpdate(update)
      if (update.isEnd) wakeups.publish('turns', `${turnId}!`)
      else if (readElsewhere.has(turnId)) wakeups.publish('turns', turnId)
    },
    subscribe: (turnId, listener) => {
      const all = listeners.get(turnId) ?? new Set()
      listeners.set(turnId, all.add(listener))
      if (listener.readsLines && !working.has(turnId)) wakeups.publish('readers', turnId)
      timer ??= setTimeout(announceReaders, readersMs).unref()
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(turnId) === all) listeners.delete(turnId)
      }
    },
    work: (turnId, turn) => {
      working.set(turnId, turn)
      return () => {
        if (working.get(turnId) === turn) working.delete(turnId)
      }
    },
    isRead: (turnId) => isReadHere(turnId) || readElsewhere.has(turnId),
    isWorking: (turnId) => working.has(turnId),
    hearsOthers: () => wakeups.isHealthy(),
    stop: (turnId) => {
      const here = working.get(turnId)
      if (here) here.stop()
      else wakeups.publish('stops', turnId)
    },
  }
}
