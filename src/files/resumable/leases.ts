import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { claimLease, keepLease } from '../../platform/database/lease.ts'
import type { Claim, Lease, LeaseTiming } from '../../platform/database/lease.ts'
import { release } from '../../platform/database/lease-queries.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import { locked } from './protocol.ts'
import * as queries from './queries.ts'
import type { UploadRow } from './queries.ts'

/** An upload whose process was killed can be continued after eight seconds. */
const timing: LeaseTiming = { leaseMs: 8_000, renewMs: 2_000 }
/** Longer than the lease, so that the first request after a crash succeeds. */
const waitMs = 10_000
const retryMs = 100
const waitersPerUpload = 4

/** An upload that no other request changes at the same time, in any process. */
export interface HeldUpload {
  row: UploadRow
  lease: Lease
  /** Aborted when another request waits for the upload: what has arrived is stored then, and the upload is released. */
  wanted: AbortSignal
}

export interface UploadLeases {
  /**
   * Runs the work while this request has the upload. A running request that receives its bytes gives it up in favour of
   * this one, because its connection is probably dead. Throws the 423 of the protocol when it does not in time.
   */
  hold<T>(orgId: string, id: string, closed: AbortSignal, work: (held: HeldUpload) => Promise<T>): Promise<T>
}

/** The leases of one process on uploads. No database connection is used while bytes arrive. */
export const createUploadLeases = ({ db, log }: { db: Database; log: Log }): UploadLeases => {
  const holders = new Map<string, AbortController>()
  const waiters = new Map<string, number>()

  const claim = async (orgId: string, id: string, closed: AbortSignal): Promise<Claim<UploadRow>> => {
    const target = queries.leased(orgId, id)
    const deadlineMs = performance.now() + waitMs
    for (let round = 0; ; round += 1) {
      const claimed = await claimLease<UploadRow>(db, target, {
        timing,
        set: queries.forgetWaiters,
        returning: queries.uploadColumns,
      })
      if (claimed) return claimed
      holders.get(id)?.abort()
      if (round % 10 === 0 && (await queries.setWanted(db, orgId, id)) === 0) throw notFound('Upload')
      if (performance.now() > deadlineMs || closed.aborted) throw locked()
      await delay(retryMs)
    }
  }

  const waitFor = async (orgId: string, id: string, closed: AbortSignal): Promise<Claim<UploadRow>> => {
    const waiting = waiters.get(id) ?? 0
    if (waiting >= waitersPerUpload) throw locked()
    waiters.set(id, waiting + 1)
    try {
      return await claim(orgId, id, closed)
    } finally {
      const left = (waiters.get(id) ?? 1) - 1
      if (left === 0) waiters.delete(id)
      else waiters.set(id, left)
    }
  }

  return {
    hold: async (orgId, id, closed, work) => {
      const claimed = await waitFor(orgId, id, closed)
      const target = queries.leased(orgId, id)
      const lease = keepLease(db, target, claimed, timing)
      const wanted = new AbortController()
      holders.set(id, wanted)
      // A request at another process cannot abort the signal.
      const asking = setInterval(() => {
        queries.isWanted(db, orgId, id).then(
          (isWanted) => {
            if (isWanted) wanted.abort()
          },
          (error: unknown) => log.warn({ err: error, orgId, uploadId: id }, 'an upload could not be checked'),
        )
      }, timing.renewMs)
      try {
        return await work({ row: claimed.row, lease, wanted: wanted.signal })
      } finally {
        clearInterval(asking)
        lease.stop()
        if (holders.get(id) === wanted) holders.delete(id)
        // A lease that is not released expires; an error here must not replace the result of the work.
        await release(db, target, claimed.token).catch(() => undefined)
      }
    },
  }
}
