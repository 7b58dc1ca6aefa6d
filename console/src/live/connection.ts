// Whether this tab receives events at the moment.
import { useSyncExternalStore } from 'react'

/** `connecting`: also while the tab is hidden. `disconnected`: the last attempt failed, and another one follows. */
export type Connection = 'connecting' | 'connected' | 'disconnected'

let connection: Connection = 'connecting'
const listeners = new Set<() => void>()

export const setConnection = (next: Connection): void => {
  if (next === connection) return
  connection = next
  for (const listener of listeners) listener()
}

export const useConnection = (): Connection =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => connection,
  )

const fallbackMs = 15_000

/** `refetchInterval` of a query that events invalidate: it polls only while no events arrive. */
export const useFallbackPolling = (): number | false => useConnection() !== 'connected' && fallbackMs
