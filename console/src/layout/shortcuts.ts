import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { navigationItems, settings } from './navigation.ts'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const sequenceMs = 1_000

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role=dialog]') !== null

/** Ctrl/⌘ K opens the command palette; ? opens the list of shortcuts; G, then a letter, opens an area. */
export const useShortcuts = (togglePalette: () => void, openSheet: () => void): void => {
  const navigate = useNavigate()
  // A ref, because a response can cause a render between the two keys.
  const goUntil = useRef(0)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        togglePalette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      if (event.key === '?' && !isInDialog(event.target)) {
        event.preventDefault()
        openSheet()
        return
      }
      const place = [...navigationItems, settings].find(({ letter }) => letter === event.key)
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
