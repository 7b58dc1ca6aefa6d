import type { Database } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Wakeups } from '../../platform/wake/wakeups.ts'

/** The signal of a transaction that makes an upload ready or failed, with the ID of its file. */
export const uploadEnded = 'uploads'

/** Tells requests that wait for the verification of an upload that it has ended, in whichever process that happens. */
export interface UploadEnds {
  /**
   * Calls `listener` when a verification may have ended. Returns a function that stops it, or undefined when `waiter`
   * or this process waits for too many uploads already.
   */
  subscribe(fileId: string, waiter: string, listener: () => void): (() => void) | undefined
}

const maxWaits = 2_000
/** Those of one person, who may send many files at a time. */
const maxWaitsOfPerson = 50

export const createUploadEnds = (db: Pick<Database, 'onSignal'>, wakeups: Wakeups): UploadEnds => {
  const listeners = new Map<string, Set<() => void>>()
  const byPerson = new Map<string, number>()
  let waits = 0
  const tell = (fileId: string): void => {
    for (const listener of listeners.get(fileId) ?? []) listener()
  }

  db.onSignal(uploadEnded, (fileId) => {
    tell(fileId)
    wakeups.publish('uploads', fileId)
  })
  wakeups.subscribe('uploads', (hint) => {
    if (isUuid(hint)) tell(hint)
  })

  return {
    subscribe: (fileId, waiter, listener) => {
      const own = byPerson.get(waiter) ?? 0
      if (waits >= maxWaits || own >= maxWaitsOfPerson) return undefined
      const ofFile = listeners.get(fileId) ?? new Set()
      listeners.set(fileId, ofFile.add(listener))
      byPerson.set(waiter, own + 1)
      waits += 1
      return () => {
        if (!ofFile.delete(listener)) return
        waits -= 1
        if (ofFile.size === 0 && listeners.get(fileId) === ofFile) listeners.delete(fileId)
        const rest = (byPerson.get(waiter) ?? 1) - 1
        if (rest === 0) byPerson.delete(waiter)
        else byPerson.set(waiter, rest)
      }
    },
  }
}
