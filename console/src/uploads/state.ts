// The list of uploads, without the code that sends them: every page shows whether there are some.
import { useSyncExternalStore } from 'react'

export interface Upload {
  id: string
  name: string
  size: number
  /** Bytes sent so far. */
  sent: number
  state: 'waiting' | 'sending' | 'storing' | 'paused' | 'done' | 'failed' | 'cancelled'
  /** Whether it can be paused. */
  isResumable: boolean
  /** Why it waits, when not for a free slot. */
  note?: string | undefined
  error?: Error
}

const listeners = new Set<() => void>()
let uploads: readonly Upload[] = []
let scheduled = false

export const listUploads = (): readonly Upload[] => uploads

/** Replaces the list. */
export const publish = (next: readonly Upload[]): void => {
  uploads = next
  if (scheduled) return
  scheduled = true
  // Progress events arrive more often than the screen is painted.
  requestAnimationFrame(() => {
    scheduled = false
    for (const listener of listeners) listener()
  })
}

export const change = (id: string, patch: Partial<Upload>): void =>
  publish(uploads.map((one) => (one.id === id ? { ...one, ...patch } : one)))

export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => uploads,
  )

export const isOpen = ({ state }: Upload): boolean =>
  state === 'waiting' || state === 'sending' || state === 'storing' || state === 'paused'

/** Whether leaving the page would cancel uploads. */
export const hasOpenUploads = (): boolean => uploads.some(isOpen)

const warnBeforeLeaving = (event: BeforeUnloadEvent): void => {
  if (hasOpenUploads()) event.preventDefault()
}
window.addEventListener('beforeunload', warnBeforeLeaving)
