import { serviceUnavailable } from '../../platform/http/errors.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { FairQueue } from '../../platform/process/fair-queue.ts'

export type Queue = FairQueue

const busy = (what: string): Error =>
  serviceUnavailable(`Too many ${what} right now. Try again shortly.`, {
    headers: { 'retry-after': '5' },
  })

/** Ten orgs can wait with all that they may before another one is told to try again. */
const groupsThatWait = 10

/**
 * Work for people and models of which so much runs at once, and so much of one org waits; more is SERVICE_UNAVAILABLE.
 * The group is the org: orgs that wait take turns.
 */
export const createQueue = (concurrency: number, maxWaitingPerOrg: number, what = 'previews are being made'): Queue =>
  createFairQueue({
    running: concurrency,
    waiting: maxWaitingPerOrg * groupsThatWait,
    waitingPerGroup: maxWaitingPerOrg,
    busy: () => busy(what),
  })
