import { maxDepth } from '../../../outbox/chain.ts'
import type { OnPublish } from '../../../outbox/publisher.ts'
import { newId } from '../../../platform/ids.ts'
import type { Details } from '../tasks.ts'
import * as queries from './queries.ts'

/** Wakes a worker that has notifications to send. */
export interface DeliveryWake {
  notify(lanes: readonly { orgId: string; webhookId: string }[]): void
}

/** The events with which a task reaches a state that clients are notified of. */
const eventTypes = {
  requires_action: 'turn.requires_action',
  completed: 'turn.completed',
  incomplete: 'turn.incomplete',
  failed: 'turn.failed',
  cancelled: 'turn.cancelled',
} as const satisfies Partial<Record<Details['turn']['status'], string>>

export type NotifiedEvent = (typeof eventTypes)[keyof typeof eventTypes]

const known = new Set<string>(Object.values(eventTypes))

/** The event of a state; undefined for a task that waits for an agent or runs. */
export const eventTypeOf = (status: Details['turn']['status']): NotifiedEvent | undefined =>
  (eventTypes as Partial<Record<string, NotifiedEvent>>)[status]

export const pauseType = eventTypes.requires_action

export const isEnd = (type: string): boolean => type !== pauseType

/**
 * Queues a notification for each configuration of a task whose turn has paused or ended, in the transaction that publishes
 * the event, so that none is lost and none is queued twice. Costs one read for events of turns, and nothing for others. An
 * event beyond the maximal depth is not delivered, as to event endpoints.
 */
export const createPushDispatcher =
  ({ deliveryWake }: { deliveryWake: DeliveryWake }): OnPublish =>
  async (db, orgId, events) => {
    const changes = events.filter(({ type }) => known.has(type))
    if (changes.length === 0) return
    const turnOf = ({ data }: (typeof changes)[number]): string => String(data['turnId'])
    const configs = await queries.listOfTurns(db, orgId, [...new Set(changes.map(turnOf))])
    if (configs.length === 0) return
    const ofTurn = Map.groupBy(configs, ({ turnId }) => turnId)
    const notifications = changes
      .filter(({ depth }) => depth <= maxDepth)
      .flatMap((event) =>
        (ofTurn.get(turnOf(event)) ?? []).map(({ id: configId }) => ({
          id: newId(),
          configId,
          eventId: event.id,
          eventType: event.type,
        })),
      )
    const ended = changes.filter(({ type }) => isEnd(type)).map(turnOf)
    if (ended.length > 0) await queries.markEnded(db, orgId, ended)
    if (notifications.length === 0) return
    await queries.queueNotifications(db, orgId, notifications)
    const ids = new Set(notifications.map(({ configId }) => configId))
    db.afterCommit(() => deliveryWake.notify([...ids].map((webhookId) => ({ orgId, webhookId }))))
  }
