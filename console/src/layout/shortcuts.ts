import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { places, settings } from './navigation.ts'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const sequenceMs = 1_000

/** Ctrl/⌘ K for the palette; G and a letter for the areas. */
export const useShortcuts = (togglePalette: () => void): void => {
  const navigate = useNavigate()
  useEffect(() => {
    let goUntil = 0
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        togglePalette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const place = [...places, settings].find(({ letter }) => letter === event.key)
      if (place && performance.now() < goUntil) {
        event.preventDefault()
        void navigate(place.to)
      }
      goUntil = event.key === 'g' ? performance.now() + sequenceMs : 0
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  })
}
