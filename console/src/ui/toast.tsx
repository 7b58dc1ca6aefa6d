import { lazy, Suspense, useSyncExternalStore } from 'react'
import { importWithRetry } from '../load-page.ts'

export interface Message {
  title: string
  action?: { label: string; onClick: () => void } | undefined
  /** What went wrong. Undefined for a success. */
  failure?: { error: unknown } | undefined
}

let show: ((message: Message) => void) | undefined
/** Messages that came before the list was loaded. */
let waiting: readonly Message[] = []
let isLoaded = false
const listeners = new Set<() => void>()

const importList = () => import('./toast-list.tsx')

/** Loads the list of messages, which no page needs at its start. */
export const loadToasts = async (): Promise<void> => {
  if (isLoaded) return
  await importWithRetry(importList)
  isLoaded = true
  for (const listener of listeners) listener()
}

const add = (message: Message): void => {
  if (show) return show(message)
  waiting = [...waiting, message]
  // Without a network the message waits for the next one.
  loadToasts().catch(() => undefined)
}

/** From now on, `by` shows the messages. Returns how to end that. */
export const showMessages = (by: (message: Message) => void): (() => void) => {
  show = by
  for (const message of waiting) by(message)
  waiting = []
  return () => {
    show = undefined
  }
}

export const toast = {
  /** For a success that the page does not show. */
  done: (title: string, action?: Message['action']): void => add({ title, action }),
  /** For a failed call: the API's message, with the request ID of a server error. A cancelled call shows nothing. */
  failed: (title: string, error: unknown): void => {
    if (error instanceof DOMException && error.name === 'AbortError') return
    add({ title, failure: { error } })
  },
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const List = lazy(async () => ({ default: (await importList()).ToastList }))

/** Shows messages above every page. */
export const Toasts = () => {
  // Only when it is loaded, so that a list that cannot be loaded breaks no page.
  const isReady = useSyncExternalStore(subscribe, () => isLoaded)
  return (
    isReady && (
      <Suspense>
        <List />
      </Suspense>
    )
  )
}
