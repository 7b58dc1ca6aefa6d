import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { places, settings } from './navigation.ts'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const sequenceMs = 1_000

/** Ctrl/⌘ K for the palette; G and a letter for the areas. */
export const useShortcuts = (togglePalette: () => void): void => {
  const navigate = useNavigate()
  // Kept from one rendering to the next: an answer may arrive between the two keys.
  const goUntil = useRef(0)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        togglePalette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const place = [...places, settings].find(({ letter }) => letter === event.key)
      if (place && performance.now() < goUntil.current) {
        event.preventDefault()
        void navigate(place.to)
      }
      goUntil.current = event.key === 'g' ? performance.now() + sequenceMs : 0
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  })
}
