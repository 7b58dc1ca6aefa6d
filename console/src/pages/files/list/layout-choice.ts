import { useSyncExternalStore } from 'react'

export type FileLayout = 'list' | 'grid'

const key = 'atrium.files.layout'
const listeners = new Set<() => void>()

const stored = (): FileLayout => {
  try {
    return localStorage.getItem(key) === 'grid' ? 'grid' : 'list'
  } catch {
    return 'list'
  }
}

let current = stored()

/** Files as rows or as tiles. It is a preference of the person on this device, for all folders. */
export const setFileLayout = (next: FileLayout): void => {
  current = next
  try {
    localStorage.setItem(key, next)
  } catch {
    // Without storage it lasts until the page is reloaded.
  }
  for (const listener of listeners) listener()
}

export const useFileLayout = (): FileLayout =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
