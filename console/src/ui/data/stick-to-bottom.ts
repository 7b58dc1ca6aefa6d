import { useCallback, useRef, useState } from 'react'
import type { RefCallback } from 'react'

export interface StickToBottom {
  /** Of what scrolls; its first child is what grows. */
  scroller: RefCallback<HTMLElement>
  isAtEnd: boolean
  onScroll: () => void
  /** Goes to the end, and stays there. */
  stick: () => void
}

const nearPixels = 60

/** Stays at the end while one is there; whoever scrolled up to read is left in peace. */
export const useStickToBottom = (): StickToBottom => {
  const element = useRef<HTMLElement>(null)
  const sticks = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)
  const toEnd = useCallback((): void => element.current?.scrollTo({ top: element.current.scrollHeight }), [])
  const scroller = useCallback<RefCallback<HTMLElement>>(
    (node) => {
      element.current = node
      if (!node) return undefined
      // Words come one by one, and pictures and receipts when they are loaded.
      const watch = new ResizeObserver(() => {
        if (sticks.current) toEnd()
      })
      watch.observe(node)
      if (node.firstElementChild) watch.observe(node.firstElementChild)
      return () => watch.disconnect()
    },
    [toEnd],
  )
  const onScroll = (): void => {
    const { current } = element
    if (!current) return
    sticks.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearPixels
    setAtEnd(sticks.current)
  }
  const stick = (): void => {
    sticks.current = true
    toEnd()
  }
  return { scroller, isAtEnd, onScroll, stick }
}
