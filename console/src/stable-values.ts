import { useCallback, useLayoutEffect, useRef, useState } from 'react'

/** A function with a stable identity that calls the latest `work`, so that memoized children do not render again. */
export const useStableCallback = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) => {
  const latest = useRef(work)
  useLayoutEffect(() => {
    latest.current = work
  })
  return useCallback((...args: A) => latest.current(...args), [])
}

/** The value of the first render. */
export const useConstant = <T>(value: T): T => useState(value)[0]
