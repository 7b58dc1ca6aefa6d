import type { Lane } from './queue-queries.ts'

/**
 * Wakes the deliverer of this process, if there is one, for webhooks that may have due deliveries. It only shortens the
 * wait: the deliverer also polls, because the rows are the truth.
 */
export interface DeliveryWake {
  notify(lanes: readonly Lane[]): void
  listen(listener: (lanes: readonly Lane[]) => void): void
}

export const createDeliveryWake = (): DeliveryWake => {
  const listeners: ((lanes: readonly Lane[]) => void)[] = []
  return {
    notify: (lanes) => {
      for (const listener of listeners) listener(lanes)
    },
    listen: (listener) => void listeners.push(listener),
  }
}
