/** The memory for pictures and PDF files in running model calls. A process runs hundreds of turns at the same time. */
export interface MediaBudget {
  /**
   * Reserves bytes for an org. Waits while others use them, but not long: false means that the call is made without its
   * files. Rejects with the signal's reason.
   */
  take(orgId: string, bytes: number, signal: AbortSignal): Promise<boolean>
  giveBack(orgId: string, bytes: number): void
}

export interface MediaBudgetLimits {
  /** Of all orgs together. A request needs about five times as much, as text and as bytes. */
  bytes: number
  /** Of one org, so that no org uses up the memory. */
  orgBytes: number
  waitMs: number
}

export const mediaBudgetLimits: MediaBudgetLimits = { bytes: 50_331_648, orgBytes: 16_777_216, waitMs: 10_000 }

interface Waiting {
  orgId: string
  bytes: number
  end: (isGranted: boolean) => void
}

export const createMediaBudget = ({ bytes: total, orgBytes, waitMs }: MediaBudgetLimits): MediaBudget => {
  const byOrg = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let used = 0
  const add = (orgId: string, bytes: number): void => {
    used += bytes
    const ofOrg = (byOrg.get(orgId) ?? 0) + bytes
    if (ofOrg === 0) byOrg.delete(orgId)
    else byOrg.set(orgId, ofOrg)
  }
  const grant = ({ orgId, bytes }: Pick<Waiting, 'orgId' | 'bytes'>): boolean => {
    if (used + bytes > total || (byOrg.get(orgId) ?? 0) + bytes > orgBytes) return false
    add(orgId, bytes)
    return true
  }
  const wait = (orgId: string, bytes: number, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        waiting.delete(one)
      }
      const abort = (): void => {
        leave()
        reject(signal.reason as Error)
      }
      const one: Waiting = {
        orgId,
        bytes,
        end: (isGranted) => {
          leave()
          resolve(isGranted)
        },
      }
      const timer = setTimeout(() => one.end(false), waitMs)
      signal.addEventListener('abort', abort)
      waiting.add(one)
    })
  return {
    take: async (orgId, bytes, signal) => {
      signal.throwIfAborted()
      return grant({ orgId, bytes }) || wait(orgId, bytes, signal)
    },
    giveBack: (orgId, bytes) => {
      add(orgId, -bytes)
      // In the order of their arrival, but an org at its limit does not hold up the others.
      for (const one of waiting) if (grant(one)) one.end(true)
    },
  }
}
