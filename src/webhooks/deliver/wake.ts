import { isUuid } from '../../platform/ids.ts'
import { noWakeups } from '../../platform/wake/wakeups.ts'
import type { Wakeups } from '../../platform/wake/wakeups.ts'
import type { DeliveryLane } from './lane-queries.ts'

/**
 * Wakes a deliverer for webhooks that may have due deliveries: the one of this process or, when it has none, those of other
 * processes. It only shortens the wait: a deliverer also polls the queue, so a lost notification only delays a delivery.
 */
export interface DeliveryWake {
  /** Call it after the commit. */
  notify(lanes: readonly DeliveryLane[]): void
  listen(listener: (lanes: readonly DeliveryLane[]) => void): void
}

export const createDeliveryWake = (wakeups: Wakeups = noWakeups): DeliveryWake => {
  const listeners: ((lanes: readonly DeliveryLane[]) => void)[] = []
  return {
    notify: (lanes) => {
      for (const listener of listeners) listener(lanes)
      if (listeners.length > 0) return
      for (const { orgId, webhookId } of lanes) wakeups.publish('deliveries', `${orgId}/${webhookId}`)
    },
    listen: (listener) => {
      if (listeners.length === 0) {
        wakeups.subscribe('deliveries', (hint) => {
          const [orgId = '', webhookId = ''] = hint.split('/')
          // Any other text would make the statement fail that claims the deliveries of all webhooks.
          if (!isUuid(orgId) || !isUuid(webhookId)) return
          for (const one of listeners) one([{ orgId, webhookId }])
        })
      }
      listeners.push(listener)
    },
  }
}
