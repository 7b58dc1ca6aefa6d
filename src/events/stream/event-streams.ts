import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { createBackoff } from '../../platform/process/backoff.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Wakeups } from '../../platform/wake/wakeups.ts'
import { published } from '../../outbox/publisher.ts'
import { listHeads } from '../../outbox/queries.ts'
import type { EventRow } from '../../outbox/queries.ts'
import type { Reader } from '../../files/files.ts'
import { eventRecord } from '../events.ts'
import * as queries from '../queries.ts'
import { closedEvents, guardsOfEvents } from '../restricted.ts'

export interface EventReader {
  userId: string
  /** False leaves the event out. */
  accepts(event: EventRow): boolean
  /** Who reads: decides which events about files in restricted folders are sent. Read for each batch that has some. */
  reader(): Reader
  /** Sends events as text. False: no more until `resume`. */
  write(text: string): boolean
}

export interface EventSubscription {
  /** Nothing is sent until `resume`. */
  pause(): void
  /** The reader accepts events again. */
  resume(): void
  close(): void
}

/** Streams of events. All streams of an org in a process share one read for each batch of new events. */
export interface EventStreams {
  /** Sends the events of an org after a position, then new ones as they are published. `head`: the last one's position. */
  subscribe(orgId: string, from: { after: bigint; head: bigint }, reader: EventReader): EventSubscription
  /** The number of streams of a person that have not reached the end of the log. */
  countBehind(orgId: string, userId: string): number
  /** Stops reading. */
  close(): Promise<void>
}

export interface EventStreamsOptions {
  db: Database
  log: Log
  wakeups: Wakeups
}

const rowsPerRead = 200
/** Between two reads for an org, so that under load one read serves many events. */
const gapMs = 20
/** Finds events whose wake-up was lost. */
const pollMs = 1_000
const healthyPollMs = 5_000
const orgsPerPoll = 1_000
const retry = { firstMs: 200, maxMs: 5_000 }
const noFilter = { types: undefined, workspaceIds: undefined, subjectId: undefined }

interface Subscriber {
  reader: EventReader
  /** The position of the last event that was sent or left out. */
  after: bigint
  isPaused: boolean
  isClosed: boolean
}

interface Org {
  id: string
  subscribers: Set<Subscriber>
  /** The highest position that is known to exist. */
  head: bigint
  /** A wake-up without a position came. */
  isStale: boolean
  /** Where the last read of older events ended. */
  readTo: bigint
  /** Whether the last read was for the streams that are furthest ahead, although others were behind. */
  wasFrontRead: boolean
  reading: Promise<void> | undefined
}

const frameOf = (event: EventRow): string => `id: ${event.position}\ndata: ${JSON.stringify(eventRecord(event))}\n\n`

interface Batch {
  events: readonly EventRow[]
  /** Shared by all subscribers. */
  frames: Map<bigint, string>
}

/** Sends to one subscriber what follows its position. */
const pass = (subscriber: Subscriber, { events, frames }: Batch, isClosed: (event: EventRow) => boolean): void => {
  let text = ''
  for (const event of events) {
    if (event.position <= subscriber.after) continue
    subscriber.after = event.position
    if (isClosed(event) || !subscriber.reader.accepts(event)) continue
    const frame = frames.get(event.position) ?? frameOf(event)
    frames.set(event.position, frame)
    text += frame
  }
  if (text !== '' && !subscriber.reader.write(text)) subscriber.isPaused = true
}

const isReady = ({ isPaused, isClosed }: Subscriber): boolean => !isPaused && !isClosed

/** For the streams of an org. Then other requests have their turn. */
const busyMs = 5

/** Whether events are open to a reader is read before each batch, so that no restriction is known too late. */
const passToAll = async (
  db: Database,
  ready: readonly Subscriber[],
  { orgId, events }: { orgId: string; events: readonly EventRow[] },
): Promise<void> => {
  const guards = await guardsOfEvents(db.hot, orgId, events)
  const batch = { events, frames: new Map<bigint, string>() }
  let beganAt = performance.now()
  for (const subscriber of ready) {
    if (performance.now() - beganAt > busyMs) {
      await nextTurn()
      beganAt = performance.now()
    }
    if (!isReady(subscriber)) continue
    const isClosed = await closedEvents(db.hot, subscriber.reader.reader(), guards)
    // It may have been paused meanwhile, because its rights changed.
    if (isReady(subscriber)) pass(subscriber, batch, isClosed)
  }
}

const least = (positions: readonly bigint[]): bigint | undefined =>
  positions.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined)

/**
 * The position after which the next read begins; undefined when nobody is behind. The streams that are furthest ahead and
 * those that still send older events take turns, and so do the latter among themselves: otherwise the new events of all
 * streams would wait for one that sends the whole log.
 */
const nextStart = (org: Org, ready: readonly Subscriber[]): bigint | undefined => {
  const front = ready.reduce((highest, { after }) => (after > highest ? after : highest), 0n)
  const older = ready.map(({ after }) => after).filter((after) => after < front)
  const isFrontBehind = front < org.head || org.isStale
  const next = least(older.filter((after) => after >= org.readTo)) ?? least(older)
  if (next === undefined) return isFrontBehind ? front : undefined
  org.wasFrontRead = isFrontBehind && !org.wasFrontRead
  return org.wasFrontRead ? front : next
}

/** Reads once. Returns false when no subscriber was behind. */
const readOnce = async (db: Database, org: Org): Promise<boolean> => {
  const ready = [...org.subscribers].filter(isReady)
  const after = ready.length === 0 ? undefined : nextStart(org, ready)
  if (after === undefined) {
    // `resume` asks again.
    org.isStale = false
    return false
  }
  const reached = ready.filter((one) => one.after >= after)
  // Before the read, which has all events up to there: a stream that begins meanwhile may know of a later one.
  const { head } = org
  if (reached.every((one) => one.after === after)) org.isStale = false
  const { events } = await queries.listEvents(db.hot, org.id, noFilter, {
    order: 'asc',
    after,
    rows: rowsPerRead,
    limit: rowsPerRead,
  })
  const last = events.at(-1)?.position
  if (last !== undefined && last > org.head) {
    org.head = last
    // There may be more, beyond what a read returns.
    if (events.length === rowsPerRead) org.isStale = true
  }
  if (!org.wasFrontRead) org.readTo = last ?? after
  await passToAll(db, reached, { orgId: org.id, events })
  // Positions up to `head` may be gone: their retention has ended.
  if (events.length === 0) for (const one of reached) if (one.after < head) one.after = head
  return true
}

interface Loop extends Omit<EventStreamsOptions, 'wakeups'> {
  closing: AbortSignal
}

/** Reads for an org until nobody is behind. */
const createReading = ({ db, log, closing }: Loop): ((org: Org) => void) => {
  const backoff = createBackoff(retry)
  const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal: closing }).catch(() => undefined)
  const read = async (org: Org): Promise<void> => {
    let isMore = true
    while (isMore && !closing.aborted) {
      try {
        isMore = await readOnce(db, org)
        backoff.reset()
      } catch (error) {
        org.isStale = true
        log.warn({ err: error, orgId: org.id }, 'events could not be read for streams and are read again')
        await pause(backoff.next())
      }
      // Also after the last read: events that come meanwhile share the next one.
      await pause(gapMs)
      isMore ||= org.isStale
    }
    org.reading = undefined
  }
  return (org) => {
    if (!closing.aborted) org.reading ??= read(org)
  }
}

/** Finds events whose wake-up was lost. Nothing is scheduled without streams. */
const createPolling = (
  { db, log, closing }: Loop,
  { orgs, wake, everyMs }: { orgs: Map<string, Org>; wake: (orgId: string) => void; everyMs: () => number },
) => {
  let timer: NodeJS.Timeout | undefined
  const poll = async (): Promise<void> => {
    try {
      const open = [...orgs.keys()]
      for (let at = 0; at < open.length; at += orgsPerPoll) {
        for (const { orgId, position } of await listHeads(db.hot, open.slice(at, at + orgsPerPoll))) {
          if (position > (orgs.get(orgId)?.head ?? position)) wake(orgId)
        }
      }
    } catch (error) {
      if (!closing.aborted) log.warn({ err: error }, 'new events for streams could not be looked for')
    }
    timer = undefined
    schedule()
  }
  const schedule = (): void => {
    if (orgs.size > 0 && !closing.aborted) timer ??= setTimeout(() => void poll(), everyMs()).unref()
  }
  closing.addEventListener('abort', () => clearTimeout(timer))
  return schedule
}

export const createEventStreams = ({ db, log, wakeups }: EventStreamsOptions): EventStreams => {
  const orgs = new Map<string, Org>()
  const closing = new AbortController()
  const loop: Loop = { db, log, closing: closing.signal }
  const readSoon = createReading(loop)
  const wake = (orgId: string): void => {
    const org = orgs.get(orgId)
    if (!org) return
    org.isStale = true
    readSoon(org)
  }
  const everyMs = (): number => (wakeups.isHealthy() ? healthyPollMs : pollMs)
  const schedulePoll = createPolling(loop, { orgs, wake, everyMs })

  db.onSignal(published, (orgId) => {
    wake(orgId)
    wakeups.publish('events', orgId)
  })
  wakeups.subscribe('events', wake)

  return {
    subscribe: (orgId, { after, head }, reader) => {
      const org: Org = orgs.get(orgId) ?? {
        id: orgId,
        subscribers: new Set(),
        head: 0n,
        isStale: true,
        readTo: 0n,
        wasFrontRead: false,
        reading: undefined,
      }
      orgs.set(orgId, org)
      if (head > org.head) org.head = head
      const subscriber: Subscriber = { reader, after, isPaused: false, isClosed: false }
      org.subscribers.add(subscriber)
      wake(orgId)
      schedulePoll()
      return {
        pause: () => {
          subscriber.isPaused = true
        },
        resume: () => {
          if (!subscriber.isPaused) return
          subscriber.isPaused = false
          wake(orgId)
        },
        close: () => {
          subscriber.isClosed = true
          org.subscribers.delete(subscriber)
          if (org.subscribers.size === 0 && orgs.get(orgId) === org) orgs.delete(orgId)
        },
      }
    },
    countBehind: (orgId, userId) => {
      const org = orgs.get(orgId)
      if (!org) return 0
      return [...org.subscribers].filter(({ reader, after }) => reader.userId === userId && after < org.head).length
    },
    close: async () => {
      closing.abort()
      await Promise.all(Array.from(orgs.values(), ({ reading }) => reading).filter((one) => one !== undefined))
    },
  }
}
