import { useEffect, useRef } from 'react'
import type { KeyboardEvent } from 'react'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** `/` focuses the search field; the arrow keys, Home and End move between it and the rows of the list. */
export const useListKeys = () => {
  const list = useRef<HTMLUListElement>(null)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== '/' || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      if (event.target instanceof Element && event.target.closest('[role=dialog]') !== null) return
      // On a phone the list is hidden beside an open conversation.
      if (!field.current?.checkVisibility()) return
      event.preventDefault()
      field.current.focus()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  const rows = (): HTMLAnchorElement[] => [...(list.current?.querySelectorAll('a') ?? [])]
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = rows()
    const at = all.findIndex((row) => row === document.activeElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (next === undefined || at < 0) return
    event.preventDefault()
    if (next < 0) field.current?.focus()
    else all[next]?.focus()
  }
  return { list, field, onKeyDown, focusFirst: () => rows()[0]?.focus() }
}
