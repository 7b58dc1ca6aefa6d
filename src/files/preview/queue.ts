import { serviceUnavailable } from '../../platform/http/errors.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { FairQueue } from '../../platform/process/fair-queue.ts'

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

/**
 * The queue of images, which pages ask for by the dozen. An org has one place of two, so that its images do not make another
 * org wait. The people of an org take turns, and each has half of its waiting places.
 */
export const createImageQueue = (): Queue =>
  createFairQueue({
    running: 2,
    runningPerGroup: 1,
    waiting: 2_000,
    waitingPerGroup: 200,
    waitingPerMember: 100,
    busy: () => busy('images are being made'),
  })
