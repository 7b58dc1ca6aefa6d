import { setTimeout as delay } from 'node:timers/promises'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { FairQueue, WorkOf } from '../../platform/process/fair-queue.ts'

export type Queue = FairQueue

/** SERVICE_UNAVAILABLE: too much work of this kind waits. */
export const busy = (what: string): Error =>
  serviceUnavailable(`Too many ${what} right now. Try again shortly.`, {
    headers: { 'retry-after': '5' },
  })

/** How many orgs can have a full queue before requests of further orgs are rejected. */
const groupsThatWait = 10

export interface QueueOptions {
  running: number
  /** Of one org. Less than `running`, so that no org makes others wait for the end of its work. Default: `running`. */
  runningPerOrg?: number
  maxWaitingPerOrg: number
  what?: string
}

/**
 * A queue that is fair between orgs, and between the people of an org: each has half of its waiting places. Throws
 * SERVICE_UNAVAILABLE when too much work waits. The group of a task is its org, the member its person.
 */
export const createQueue = ({
  running,
  runningPerOrg = running,
  maxWaitingPerOrg,
  what = 'previews are being made',
}: QueueOptions): Queue =>
  createFairQueue({
    running,
    runningPerGroup: runningPerOrg,
    waiting: maxWaitingPerOrg * groupsThatWait,
    waitingPerGroup: maxWaitingPerOrg,
    waitingPerMember: Math.ceil(maxWaitingPerOrg / 2),
    busy: () => busy(what),
  })

/** The queue of pictures for models. One of an org is read at a time, because each may need much memory. */
export const createPictureQueue = (maxWaitingPerOrg: number): Queue =>
  createQueue({ running: 2, runningPerOrg: 1, maxWaitingPerOrg, what: 'pictures are being read' })

const images = {
  running: 2,
  runningPerGroup: 1,
  waiting: 2_000,
  waitingPerGroup: 200,
  waitingPerMember: 100,
  busy: () => busy('images are being made'),
}

/**
 * The queue of images, which pages ask for by the dozen. An org has one place of two, so that its images do not make another
 * org wait. The people of an org take turns, and each has half of its waiting places. After an image that took more than
 * `slowMs`, its person waits for as long before the next one: the others of the org would wait for such an image between any
 * two of theirs.
 */
export const createImageQueue = ({
  slowMs,
  now = () => performance.now(),
}: {
  slowMs: number
  now?: () => number
}): Queue => {
  const queue = createFairQueue(images)
  const closing = new AbortController()
  /** By person: the end of the pause, and how many wait for it. */
  const pauses = new Map<string, { until: number; waiting: number }>()

  const forget = (person: string): void => {
    const pause = pauses.get(person)
    if (pause && pause.waiting === 0 && pause.until <= now()) pauses.delete(person)
  }
  /** Waits for the end of a pause of the person. */
  const wait = async (person: string, signal: AbortSignal | undefined): Promise<void> => {
    for (let pause = pauses.get(person); pause !== undefined; pause = pauses.get(person)) {
      const left = pause.until - now()
      if (left <= 0) return forget(person)
      if (pause.waiting >= images.waitingPerMember) throw images.busy()
      pause.waiting += 1
      const ended = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      try {
        await delay(left, undefined, { signal: ended, ref: false })
      } catch {
        throw signal?.aborted === true ? signal.reason : images.busy()
      } finally {
        pause.waiting -= 1
      }
    }
  }
  const isPaused = (person: string): boolean => (pauses.get(person)?.until ?? 0) > now()
  const timed = async <T>(person: string, work: () => Promise<T>): Promise<T> => {
    const began = now()
    try {
      return await work()
    } finally {
      const tookMs = now() - began
      if (tookMs > slowMs) {
        pauses.set(person, { until: now() + tookMs, waiting: pauses.get(person)?.waiting ?? 0 })
        setTimeout(forget, tookMs + 10, person).unref()
      }
    }
  }
  return {
    run: async <T>(work: () => Promise<T>, of: WorkOf = {}): Promise<T> => {
      const person = `${of.group ?? ''} ${of.member ?? ''}`
      // The pause may begin while the work waits.
      const start = async () => (isPaused(person) ? undefined : { value: await timed(person, work) })
      for (;;) {
        await wait(person, of.signal)
        const done = await queue.run(start, of)
        if (done) return done.value
      }
    },
    close: () => {
      closing.abort()
      queue.close()
    },
  }
}
