import type { Database } from '../../platform/database/database.ts'
import { createBackoff } from '../../platform/process/backoff.ts'
import type { Log } from '../../platform/process/log.ts'
import { readNewEvents } from './new-events.ts'
import type { NewTurnEventsRow } from './queries.ts'
import type { StreamUpdate, TurnNotifier } from './turn-notifier.ts'

export interface StreamReader {
  /** Lines in order, the first with this number. Returning false stops them until `resume` is called. */
  write(firstSeq: number, lines: string[]): boolean
  /** The turn has ended, or waits for a person. Nothing follows. */
  end(): void
}

export interface TurnKey {
  orgId: string
  turnId: string
}

export interface SubscribeOptions {
  /** The number of the last line that the reader has. */
  after: number
  /** The turn was committed in this step of the event loop: no line can exist yet, so the first query is skipped. */
  isFresh?: boolean
}

export interface Subscription {
  /** Continues after a `write` that returned false. */
  resume(): void
  close(): void
}

export interface TurnStreams {
  /** Passes a turn's lines to a reader until the end of the stream. */
  subscribe(turn: TurnKey, reader: StreamReader, options: SubscribeOptions): Subscription
  /** Resolves true at the end of the stream, false on a timeout or when the signal is aborted first. */
  waitForEnd(turn: TurnKey, options: { timeoutMs: number; signal: AbortSignal; isFresh?: boolean }): Promise<boolean>
}

export interface TurnStreamsOptions {
  db: Database
  notifier: TurnNotifier
  log: Log
  /** The intervals of the poll, for tests. */
  timing?: StreamTiming
}

interface StreamTiming {
  /** The maximum delay of lines from a process that does not announce them. */
  pollMs: number
  /** The interval while other processes announce their lines. */
  safetyPollMs: number
}

interface Subscriber {
  orgId: string
  turnId: string
  /** The number of the last line that the reader has. */
  after: number
  reader: StreamReader
  isPaused: boolean
  /** A notification could not be passed on, so its lines must be read from the database. */
  isBehind: boolean
  /** An update arrived during a query, which may have started too early to see it. */
  needsAnotherQuery: boolean
  isClosed: boolean
}

const defaultTiming: StreamTiming = { pollMs: 150, safetyPollMs: 1_000 }
const maxBackoffMs = 5_000
const rowsPerQuery = 20
const endStatuses = new Set(['completed', 'failed', 'cancelled', 'incomplete', 'requires_action'])
/** Larger than the number of any line: no line is read for a subscriber that only waits for the end. */
const endOnly = 2_147_483_647

const passLines = (subscriber: Subscriber, firstSeq: number, lines: string[]): void => {
  const unread = lines.slice(Math.max(0, subscriber.after + 1 - firstSeq))
  if (unread.length === 0 || subscriber.after === endOnly) return
  // A gap before firstSeq consists of lines that have expired.
  const from = Math.max(subscriber.after + 1, firstSeq)
  subscriber.after = from + unread.length - 1
  if (!subscriber.reader.write(from, unread)) subscriber.isPaused = true
}

const finish = (subscriber: Subscriber): void => {
  if (subscriber.isClosed) return
  subscriber.isClosed = true
  subscriber.reader.end()
}

/** Passes on an update of this process. Returns false when a line before it is missing, so that a query is needed. */
const passUpdate = (subscriber: Subscriber, { firstSeq, lines, isEnd }: StreamUpdate): boolean => {
  if (subscriber.isClosed) return true
  if (subscriber.isPaused || subscriber.isBehind || firstSeq > subscriber.after + 1) {
    subscriber.isBehind = true
    subscriber.needsAnotherQuery = true
    return false
  }
  passLines(subscriber, firstSeq, lines)
  if (!isEnd) return true
  if (subscriber.isPaused) subscriber.isBehind = true
  else finish(subscriber)
  return true
}

/** Passes on the rows of one query, which read lines and status of the turn in one snapshot. */
const passRows = (subscriber: Subscriber, rows: NewTurnEventsRow[]): void => {
  for (const { seq, frames } of rows) {
    if (subscriber.isClosed || subscriber.isPaused) return
    if (seq === null || frames === null) continue
    const lines = frames.split('\n')
    passLines(subscriber, seq - lines.length + 1, lines)
  }
  if (subscriber.isPaused) return
  subscriber.isBehind = subscriber.needsAnotherQuery || rows.length >= rowsPerQuery
  if (rows.length >= rowsPerQuery) return
  if (endStatuses.has(rows[0]?.status ?? 'completed')) finish(subscriber)
}

const waitForEndBy =
  (subscribe: TurnStreams['subscribe']): TurnStreams['waitForEnd'] =>
  async (turn, { timeoutMs, signal, isFresh = false }) => {
    const ended = Promise.withResolvers<boolean>()
    const giveUp = (): void => ended.resolve(false)
    const timeout = setTimeout(giveUp, timeoutMs)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    const reader: StreamReader = { write: () => true, end: () => ended.resolve(true) }
    const subscription = subscribe(turn, reader, { after: endOnly, isFresh })
    try {
      return await ended.promise
    } finally {
      clearTimeout(timeout)
      signal.removeEventListener('abort', giveUp)
      subscription.close()
    }
  }

interface StreamPoller {
  /** Reads the streams that are behind, now. */
  pollSoon(): void
  add(subscriber: Subscriber): void
  delete(subscriber: Subscriber): void
}

/** Reads lines from the database, with one query for all streams that are due. Nothing is scheduled without streams. */
const createStreamPoller = ({
  db,
  notifier,
  log,
  timing: { pollMs, safetyPollMs } = defaultTiming,
}: TurnStreamsOptions): StreamPoller => {
  const subscribers = new Set<Subscriber>()
  const backoff = createBackoff({ firstMs: pollMs, maxMs: maxBackoffMs })
  let isPolling = false
  let timer: NodeJS.Timeout | undefined
  let polledAtMs = 0
  let retryAtMs = Number.NEGATIVE_INFINITY

  const needsQuery = (subscriber: Subscriber): boolean =>
    !subscriber.isClosed && !subscriber.isPaused && (subscriber.isBehind || !notifier.isWorking(subscriber.turnId))
  const untilPollMs = (): number =>
    Math.max(0, polledAtMs + (notifier.hearsOthers() ? safetyPollMs : pollMs) - performance.now())

  /** Reads the streams that are behind and, when the poll is due, all others. */
  const query = async (): Promise<void> => {
    const isPoll = untilPollMs() === 0
    if (isPoll) polledAtMs = performance.now()
    const asking = [...subscribers].filter((subscriber) => needsQuery(subscriber) && (isPoll || subscriber.isBehind))
    if (asking.length === 0) return
    for (const subscriber of asking) subscriber.needsAnotherQuery = false
    const rows = await readNewEvents(db, asking, rowsPerQuery)
    const byPlace = Map.groupBy(rows, ({ place }) => Number(place))
    for (const [i, subscriber] of asking.entries()) passRows(subscriber, byPlace.get(i + 1) ?? [])
  }

  const poll = async (): Promise<void> => {
    if (isPolling) return
    timer = undefined
    isPolling = true
    try {
      await query()
      backoff.reset()
    } catch (error) {
      retryAtMs = performance.now() + backoff.next()
      log.warn({ err: error }, 'reading turn streams failed; retrying')
    }
    isPolling = false
    const isMore = [...subscribers].some((subscriber) => subscriber.isBehind && needsQuery(subscriber))
    schedule(isMore ? 0 : untilPollMs())
  }

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    timer = undefined
    if (subscribers.size > 0) timer = setTimeout(() => void poll(), Math.max(ms, retryAtMs - performance.now()))
  }

  return {
    pollSoon: () => {
      if (!isPolling) schedule(0)
    },
    add: (subscriber) => {
      if (subscribers.size === 0) polledAtMs = performance.now()
      subscribers.add(subscriber)
      if (timer === undefined && !isPolling) schedule(untilPollMs())
    },
    delete: (subscriber) => {
      subscribers.delete(subscriber)
      if (subscribers.size > 0) return
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/**
 * Streams of turns. Lines of this process are passed on as they are written. Lines of other processes are read when those
 * announce them, and by a poll every 150 ms or, while wake-ups arrive, every second. A stream needs no query while its turn
 * runs in this process.
 */
export const createTurnStreams = (options: TurnStreamsOptions): TurnStreams => {
  const { notifier } = options
  const poller = createStreamPoller(options)

  const subscribe: TurnStreams['subscribe'] = ({ orgId, turnId }, reader, { after, isFresh = false }) => {
    const state = { isPaused: false, isBehind: !isFresh, needsAnotherQuery: false, isClosed: false }
    const subscriber: Subscriber = { orgId, turnId, after, reader, ...state }
    poller.add(subscriber)
    const unsubscribe = notifier.subscribe(turnId, {
      onUpdate: (update) => {
        if (!passUpdate(subscriber, update)) poller.pollSoon()
      },
      onHint: (isEnd) => {
        if (subscriber.isClosed || (!isEnd && after === endOnly)) return
        subscriber.isBehind = true
        subscriber.needsAnotherQuery = true
        poller.pollSoon()
      },
      readsLines: after !== endOnly,
    })
    if (!isFresh) poller.pollSoon()
    return {
      resume: () => {
        if (!subscriber.isPaused) return
        subscriber.isPaused = false
        subscriber.isBehind = true
        poller.pollSoon()
      },
      close: () => {
        subscriber.isClosed = true
        poller.delete(subscriber)
        unsubscribe()
      },
    }
  }

  return { subscribe, waitForEnd: waitForEndBy(subscribe) }
}
