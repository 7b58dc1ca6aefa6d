import type { DeliveryLane } from './queue-queries.ts'

/**
 * Wakes the deliverer of this process, if there is one, for webhooks that may have due deliveries. It only shortens the
 * wait: the deliverer also polls the queue, so a lost notification only delays a delivery.
 */
export interface DeliveryWake {
  notify(lanes: readonly DeliveryLane[]): void
  listen(listener: (lanes: readonly DeliveryLane[]) => void): void
}

export const createDeliveryWake = (): DeliveryWake => {
  const listeners: ((lanes: readonly DeliveryLane[]) => void)[] = []
  return {
    notify: (lanes) => {
      for (const listener of listeners) listener(lanes)
    },
    listen: (listener) => void listeners.push(listener),
  }
}
