import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let covered = 0

/** Pixels at the bottom of the page that the floating upload tray covers; 0 without a tray. */
export const useCoveredBottom = (): number =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => covered,
  )

/** Reserves this many pixels, also as `--covered-bottom` for style sheets, so that nothing below them is out of reach. */
export const setCoveredBottom = (pixels: number): void => {
  covered = pixels
  document.documentElement.style.setProperty('--covered-bottom', `${pixels}px`)
  for (const listener of listeners) listener()
}
