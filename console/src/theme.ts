import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const key = 'atrium.theme'
const listeners = new Set<() => void>()

export const theme = (): Theme => (document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system'

export const setTheme = (next: Theme): void => {
  const { dataset } = document.documentElement
  if (next === 'system') delete dataset['theme']
  else dataset['theme'] = next
  try {
    if (next === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, next)
  } catch {
    // Without storage the theme lasts until the page is reloaded.
  }
  for (const listener of listeners) listener()
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, theme)
