import { useSyncExternalStore } from 'react'
import { formatAgo, formatDateTime } from '../../format.ts'
import styles from './relative-time.module.css'

const everyMs = 30_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One timer for all times of the page, while it shows some. */
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const one of listeners) one()
  }, everyMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** `3 min. ago`, with the exact time as tooltip. Keeps up with the time in a page that stays open. */
export const RelativeTime = ({ at }: { at: string }) => {
  const ago = useSyncExternalStore(subscribe, () => formatAgo(at))
  return (
    <time dateTime={at} title={formatDateTime(at)} className={styles['time']}>
      {ago}
    </time>
  )
}
