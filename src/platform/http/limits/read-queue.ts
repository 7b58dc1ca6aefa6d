import { createFairQueue } from '../../process/fair-queue.ts'
import type { FairQueue } from '../../process/fair-queue.ts'
import { serviceUnavailable } from '../errors.ts'

/** SERVICE_UNAVAILABLE, to be tried again in five seconds. */
export const readBusy = (message: string): Error => serviceUnavailable(message, { headers: { 'retry-after': '5' } })

/**
 * A queue of requests that read and write so much that the process is busy meanwhile: one of an org at a time, two of a
 * process. The people of an org take turns. Throws SERVICE_UNAVAILABLE with the message when too many wait.
 */
export const createReadQueue = (message: string): FairQueue =>
  createFairQueue({
    running: 2,
    runningPerGroup: 1,
    waiting: 200,
    waitingPerGroup: 40,
    waitingPerMember: 20,
    busy: () => readBusy(message),
  })
