import { useCallback, useLayoutEffect, useRef, useState } from 'react'

/** A function that stays the same and does what it was last told: for memoised children. */
export const useStableCallback = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) => {
  const latest = useRef(work)
  useLayoutEffect(() => {
    latest.current = work
  })
  return useCallback((...args: A) => latest.current(...args), [])
}

/** The first value that it was given, for objects of functions that stay the same. */
export const useConstant = <T>(value: T): T => useState(value)[0]
