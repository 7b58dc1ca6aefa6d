import type { Database } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import * as eventQueries from './event-queries.ts'
import type { NewsRow } from './event-queries.ts'
import type { Published, TurnHub } from './turn-hub.ts'

export interface Reader {
  /** Frames in order, the first with this number. False: no more until `resume` is called. */
  write(firstSeq: number, lines: string[]): boolean
  /** The turn rests: it has ended, or waits for a person. Nothing follows. */
  end(): void
}

export interface TurnKey {
  orgId: string
  turnId: string
}

export interface Tail {
  /** After a `write` that answered false. */
  resume(): void
  close(): void
}

export interface Tails {
  /**
   * Reads a turn's stream after a frame, to its end. `isFresh`: the turn was committed in this very step of the event loop,
   * so nothing can have been said yet that would have to be looked up.
   */
  follow(turn: TurnKey, after: number, reader: Reader, isFresh?: boolean): Tail
  /** Resolves true when the turn rests, false when that takes longer, or the signal comes first. */
  untilResting(turn: TurnKey, timeoutMs: number, signal: AbortSignal, isFresh?: boolean): Promise<boolean>
}

export interface TailOptions {
  db: Database
  hub: TurnHub
  log: Log
}

interface Follower {
  orgId: string
  turnId: string
  /** The last frame that the reader has. */
  after: number
  reader: Reader
  isPaused: boolean
  /** What the hub told could not be passed on, so it has to be read. */
  isBehind: boolean
  /** The hub told something while a look was under way, which may have come too early to see it. */
  isLookTooEarly: boolean
  isClosed: boolean
}

/** How late a frame may be that another process wrote. */
const pollMs = 150
const rowsAtOnce = 20
const resting = new Set(['completed', 'failed', 'cancelled', 'incomplete', 'requires_action'])
// Past every frame: whoever waits only for the end reads none.
const endOnly = 2_147_483_647

const pass = (follower: Follower, firstSeq: number, lines: string[]): void => {
  const news = lines.slice(Math.max(0, follower.after + 1 - firstSeq))
  if (news.length === 0 || follower.after === endOnly) return
  // What is missing in between was removed because of its age.
  const from = Math.max(follower.after + 1, firstSeq)
  follower.after = from + news.length - 1
  if (!follower.reader.write(from, news)) follower.isPaused = true
}

const finish = (follower: Follower): void => {
  if (follower.isClosed) return
  follower.isClosed = true
  follower.reader.end()
}

/** Passes on what was published here. False when it has to be read instead: something before it is missing. */
const passPublished = (follower: Follower, { firstSeq, lines, isResting }: Published): boolean => {
  if (follower.isClosed) return true
  if (follower.isPaused || follower.isBehind || firstSeq > follower.after + 1) {
    follower.isBehind = true
    follower.isLookTooEarly = true
    return false
  }
  pass(follower, firstSeq, lines)
  if (!isResting) return true
  if (follower.isPaused) follower.isBehind = true
  else finish(follower)
  return true
}

/** Passes on what was read: the next rows of the turn, and whether it rests, as they were at one moment. */
const passRead = (follower: Follower, rows: NewsRow[]): void => {
  for (const { seq, frames } of rows) {
    if (follower.isClosed || follower.isPaused) return
    if (seq === null || frames === null) continue
    const lines = frames.split('\n')
    pass(follower, seq - lines.length + 1, lines)
  }
  if (follower.isPaused || rows.length >= rowsAtOnce) return
  follower.isBehind = follower.isLookTooEarly
  if (resting.has(rows[0]?.status ?? 'completed')) finish(follower)
}

/**
 * Passes streams on to their readers: at once what this process writes itself, and by looking every 150 ms what others
 * write, with one statement for all streams together. Streams held open cost no statement while their turn runs here.
 */
export const createTails = ({ db, hub, log }: TailOptions): Tails => {
  const followers = new Set<Follower>()
  let isLooking = false
  let timer: NodeJS.Timeout | undefined

  const needsLook = (follower: Follower): boolean =>
    !follower.isClosed && !follower.isPaused && (follower.isBehind || !hub.isWorking(follower.turnId))

  const look = async (): Promise<void> => {
    const asked = [...followers].filter(needsLook)
    if (asked.length === 0) return
    for (const follower of asked) follower.isLookTooEarly = false
    const rows = await eventQueries.listNews(db.hot, asked, rowsAtOnce)
    const byPlace = Map.groupBy(rows, ({ place }) => Number(place))
    for (const [i, follower] of asked.entries()) passRead(follower, byPlace.get(i + 1) ?? [])
  }

  const lookAndSchedule = async (): Promise<void> => {
    if (isLooking) return
    timer = undefined
    isLooking = true
    let isFailed = false
    try {
      await look()
    } catch (error) {
      isFailed = true
      log.warn({ err: error }, 'streams could not be read and are tried again')
    }
    isLooking = false
    const isMore = !isFailed && [...followers].some((follower) => follower.isBehind && needsLook(follower))
    schedule(isMore ? 0 : pollMs)
  }

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    timer = undefined
    if (followers.size > 0) timer = setTimeout(() => void lookAndSchedule(), ms)
  }
  const lookSoon = (): void => {
    if (!isLooking) schedule(0)
  }

  const follow: Tails['follow'] = ({ orgId, turnId }, after, reader, isFresh = false) => {
    const state = { isPaused: false, isBehind: !isFresh, isLookTooEarly: false, isClosed: false }
    const follower: Follower = { orgId, turnId, after, reader, ...state }
    followers.add(follower)
    const unsubscribe = hub.subscribe(turnId, {
      hear: (published) => {
        if (!passPublished(follower, published)) lookSoon()
      },
      wantsFrames: after !== endOnly,
    })
    if (!isFresh) lookSoon()
    else if (timer === undefined) schedule(pollMs)
    return {
      resume: () => {
        if (!follower.isPaused) return
        follower.isPaused = false
        follower.isBehind = true
        lookSoon()
      },
      close: () => {
        follower.isClosed = true
        followers.delete(follower)
        unsubscribe()
      },
    }
  }
  return {
    follow,
    untilResting: (turn, timeoutMs, signal, isFresh = false) => untilResting(follow, turn, timeoutMs, signal, isFresh),
  }
}

const untilResting = async (
  follow: Tails['follow'],
  turn: TurnKey,
  timeoutMs: number,
  signal: AbortSignal,
  isFresh: boolean,
): Promise<boolean> => {
  const rested = Promise.withResolvers<boolean>()
  const giveUp = (): void => rested.resolve(false)
  const timeout = setTimeout(giveUp, timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  const tail = follow(turn, endOnly, { write: () => true, end: () => rested.resolve(true) }, isFresh)
  try {
    return await rested.promise
  } finally {
    clearTimeout(timeout)
    signal.removeEventListener('abort', giveUp)
    tail.close()
  }
}
