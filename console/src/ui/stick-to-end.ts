import { useLayoutEffect, useRef, useState } from 'react'

/** Stays at the end while one is there; whoever scrolled up to read is left in peace. */
export const useStickToEnd = () => {
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const sticks = useRef(true)
  const toEnd = (): void => scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  // With every change of what is shown: words come one by one.
  useLayoutEffect(() => {
    if (sticks.current) scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  })
  const onScroll = (): void => {
    const { current } = scroller
    if (!current) return
    sticks.current = current.scrollHeight - current.scrollTop - current.clientHeight < 60
    setAtEnd(sticks.current)
  }
  const stick = (): void => {
    sticks.current = true
    toEnd()
  }
  return { scroller, isAtEnd, onScroll, stick }
}
