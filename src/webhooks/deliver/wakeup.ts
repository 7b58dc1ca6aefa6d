import type { Lane } from './queue-queries.ts'

/** Tells the worker in this process, if there is one, where something may be due. Only a hint: rows are what counts. */
export interface Wakeup {
  notify(lanes: readonly Lane[]): void
  listen(listener: (lanes: readonly Lane[]) => void): void
}

export const createWakeup = (): Wakeup => {
  const listeners: ((lanes: readonly Lane[]) => void)[] = []
  return {
    notify: (lanes) => {
      for (const listener of listeners) listener(lanes)
    },
    listen: (listener) => void listeners.push(listener),
  }
}
