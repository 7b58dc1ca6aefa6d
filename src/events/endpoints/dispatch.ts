import { setImmediate as nextTurn } from 'node:timers/promises'
import { maxDepth } from '../../outbox/chain.ts'
import type { EventRow, OnPublish } from '../../outbox/publisher.ts'
import { planAnew } from '../../outbox/queries.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { lockEndpoints } from '../../webhooks/deliver/queue-queries.ts'
import type { DeliveryWake } from '../../webhooks/deliver/wake.ts'
import { closedEvents, guardsOfEvents } from '../restricted.ts'
import { isVisible, matchesAny } from '../visibility.ts'
import type { Visibility } from '../visibility.ts'
import { passes } from './filter.ts'
import * as queries from './queries.ts'
import type { NewDelivery, ReceivingEndpoint } from './queries.ts'
import { visibilitiesOf } from './rights.ts'

/** Whether an endpoint receives an event, apart from the loop guard. */
export const receives = (endpoint: ReceivingEndpoint, visibility: Visibility | undefined, event: EventRow): boolean =>
  visibility !== undefined &&
  matchesAny(endpoint.types, event.type) &&
  (endpoint.workspaceIds === null || event.workspaceId === null || endpoint.workspaceIds.includes(event.workspaceId)) &&
  isVisible(visibility, event) &&
  (endpoint.filter === null ||
    passes(endpoint.filter, {
      type: event.type,
      subject: { type: event.subjectType, id: event.subjectId },
      actor: event.actor,
      data: event.data,
    }))

/** The key of the deliveries that an endpoint receives one after another. */
const orderKeyOf = (endpoint: ReceivingEndpoint, event: EventRow): string | null =>
  endpoint.ordering === 'subject' ? `${endpoint.id}/${event.subjectType}/${event.subjectId}` : null

const deliveryOf = (endpoint: ReceivingEndpoint, event: EventRow): NewDelivery => {
  const orderKey = orderKeyOf(endpoint, event)
  return {
    id: newId(),
    endpointId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    orderKey,
    orderNumber: orderKey === null ? null : event.sequence,
    waits: false,
  }
}

/**
 * Marks the deliveries that have to wait for an earlier one of their key, which is queued or among them. The endpoints are
 * locked before the queue is read: the deliverer locks them when a delivery ends, so none waits for one that ends now.
 */
const markWaiting = async (db: Transaction, orgId: string, deliveries: readonly NewDelivery[]): Promise<void> => {
  const ordered = deliveries.filter(({ orderKey }) => orderKey !== null)
  if (ordered.length === 0) return
  const endpointIds = [...new Set(ordered.map(({ endpointId }) => endpointId))]
  await planAnew(db)
  await lockEndpoints(db, orgId, endpointIds)
  const keys = [...new Set(ordered.map(({ orderKey }) => orderKey as string))]
  const busy = new Set((await queries.listBusyKeys(db, orgId, keys)).map(({ orderKey }) => orderKey))
  for (const delivery of ordered) {
    delivery.waits = busy.has(delivery.orderKey as string)
    busy.add(delivery.orderKey as string)
  }
}

/**
 * A program, or a webhook of Atrium, that receives the events of many endpoints can answer each with a change: the events
 * of a chain multiply. Beyond this number of deliveries, which those of the first event do not count towards, the events
 * of a chain are recorded and not delivered.
 */
const maxChainDeliveries = 10_000

/** An org with thousands of endpoints must not keep the requests of others waiting. A filter takes some microseconds. */
const checksPerLoopTurn = 200

/** The deliveries of these events to the endpoints that receive them. */
export const planDeliveries = async (
  endpoints: readonly ReceivingEndpoint[],
  events: readonly EventRow[],
  isReceived: (endpoint: ReceivingEndpoint, event: EventRow) => boolean,
): Promise<NewDelivery[]> => {
  const deliveries: NewDelivery[] = []
  let checks = 0
  for (const event of events) {
    for (const endpoint of endpoints) {
      if (isReceived(endpoint, event)) deliveries.push(deliveryOf(endpoint, event))
      if (++checks % checksPerLoopTurn === 0) await nextTurn()
    }
  }
  return deliveries
}

/** Removes the deliveries of events whose chain has caused too many, and marks these events. */
const limitChains = async (
  db: Transaction,
  orgId: string,
  events: readonly EventRow[],
  deliveries: NewDelivery[],
): Promise<NewDelivery[]> => {
  const ofEvent = Map.groupBy(deliveries, ({ eventId }) => eventId)
  const counted = events.filter(({ id, depth }) => depth > 0 && ofEvent.has(id))
  if (counted.length === 0) return deliveries
  const countOf = ({ id }: EventRow): number => ofEvent.get(id)?.length ?? 0
  const added = new Map<string, number>()
  for (const event of counted) added.set(event.chainId, (added.get(event.chainId) ?? 0) + countOf(event))
  const sums = await queries.countChainDeliveries(db, orgId, added)
  const left = new Map(sums.map(({ id, deliveries }) => [id, maxChainDeliveries - deliveries + (added.get(id) ?? 0)]))
  const ended = new Set<string>()
  for (const event of counted) {
    const after = (left.get(event.chainId) ?? 0) - countOf(event)
    left.set(event.chainId, after)
    if (after < 0) ended.add(event.id)
  }
  if (ended.size === 0) return deliveries
  await queries.endChain(db, orgId, [...ended])
  return deliveries.filter(({ eventId }) => !ended.has(eventId))
}

/** Which events are about files that are not open to the person who set the URL of an endpoint. */
const closedTo = async (
  db: Transaction,
  orgId: string,
  events: readonly EventRow[],
  visibilities: readonly (Visibility | undefined)[],
): Promise<(visibility: Visibility | undefined, event: EventRow) => boolean> => {
  const guards = await guardsOfEvents(db, orgId, events)
  const closed = new Map<Visibility | undefined, (event: EventRow) => boolean>()
  for (const visibility of new Set(visibilities)) {
    if (visibility) closed.set(visibility, await closedEvents(db, visibility.reader, guards))
  }
  return (visibility, event) => closed.get(visibility)?.(event) ?? true
}

/**
 * Queues a delivery for each endpoint that receives a published event. Costs one read for an org without endpoints. An
 * error in the data of one event does not stop the log of the org: the event is not delivered to that endpoint.
 */
export const createDispatcher =
  ({ deliveryWake, log }: { deliveryWake: DeliveryWake; log: Log }): OnPublish =>
  async (db, orgId, events) => {
    const endpoints = await queries.listReceiving(db, orgId)
    if (endpoints.length === 0) return
    const visibilityOf = await visibilitiesOf(db, orgId, endpoints)
    const isClosedTo = await closedTo(db, orgId, events, endpoints.map(visibilityOf))
    const isReceived = (endpoint: ReceivingEndpoint, event: EventRow): boolean => {
      try {
        const visibility = visibilityOf(endpoint)
        return receives(endpoint, visibility, event) && !isClosedTo(visibility, event)
      } catch (error) {
        log.error({ err: error, endpointId: endpoint.id, eventId: event.id }, 'an event could not be matched')
        return false
      }
    }
    const delivered = events.filter(({ depth }) => depth <= maxDepth)
    const wanted = await planDeliveries(endpoints, delivered, isReceived)
    const deliveries = await limitChains(db, orgId, events, wanted)
    if (deliveries.length === 0) return
    await markWaiting(db, orgId, deliveries)
    await queries.queueDeliveries(db, orgId, deliveries)
    const ids = new Set(deliveries.map(({ endpointId }) => endpointId))
    db.afterCommit(() => deliveryWake.notify([...ids].map((webhookId) => ({ orgId, webhookId }))))
  }
