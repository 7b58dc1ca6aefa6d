import { useCallback, useRef, useState } from 'react'
import type { RefCallback } from 'react'

export interface StickToBottom {
  /** Ref of the scroll container; its first child is the content that grows. */
  scroller: RefCallback<HTMLElement>
  isAtEnd: boolean
  onScroll: () => void
  /** Scrolls to the bottom and follows new content again. */
  stick: () => void
  /** Scrolls an element of the content into view, and does not follow new content. False when there is none. */
  show: (selector: string) => boolean
}

const nearPixels = 60

/** Follows new content while the container is scrolled to the bottom; stops when the person scrolls up. */
export const useStickToBottom = (): StickToBottom => {
  const element = useRef<HTMLElement>(null)
  const sticks = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)
  const toEnd = useCallback((): void => element.current?.scrollTo({ top: element.current.scrollHeight }), [])
  const scroller = useCallback<RefCallback<HTMLElement>>(
    (node) => {
      element.current = node
      if (!node) return undefined
      // The content grows with every token and when images load.
      const watch = new ResizeObserver(() => {
        if (sticks.current) toEnd()
      })
      watch.observe(node)
      if (node.firstElementChild) watch.observe(node.firstElementChild)
      return () => watch.disconnect()
    },
    [toEnd],
  )
  const onScroll = useCallback((): void => {
    const { current } = element
    if (!current) return
    sticks.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearPixels
    setAtEnd(sticks.current)
  }, [])
  const stick = (): void => {
    sticks.current = true
    toEnd()
  }
  const show = useCallback(
    (selector: string): boolean => {
      const found = element.current?.querySelector(selector)
      if (!found) return false
      found.scrollIntoView({ block: 'center' })
      // There is no event when it was in view already.
      onScroll()
      return true
    },
    [onScroll],
  )
  return { scroller, isAtEnd, onScroll, stick, show }
}
