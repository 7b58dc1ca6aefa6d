import type { Actor } from '../../identity/actor.ts'
import type { Expand } from '../../outbox/expand.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { idLater, newId, smallestIdOf } from '../../platform/ids.ts'
import { chooseRows, idLeadMs, isOfType, timesOf } from '../filters.ts'
import * as queries from './queries.ts'
import type { DeliveryRow, DestinationKey, DestinationTable } from './queries.ts'
import * as eventQueries from '../receive/queries.ts'
import type { WebhookEventRow } from '../receive/queries.ts'
import { shownPayload } from '../receive/payload.ts'
import type { DeliveryWake } from './wake.ts'
import type { DeliveryListQuery, EventFilterQuery } from './schemas.ts'
import { getWebhook, lastId, pageOf, positionOf } from '../webhooks.ts'

const recoverBatch = 500

/** The API representation of an event. */
const eventRecord = ({ body, contentType, ...row }: WebhookEventRow) => ({
  ...row,
  payload: body === null ? null : shownPayload(body, contentType),
})

const reasonOf = (row: DeliveryRow, what: string): string | null => {
  if (row.status === 'succeeded') return null
  if (row.status === 'failed') return row.error
  if (row.status === 'sending') return 'Attempt in progress.'
  if (row.status === 'held') return `${what} is ${row.webhookStatus}. The delivery is sent when it is active again.`
  if (row.isWaiting) return 'Waiting for the delivery of an earlier event of the same subject.'
  return row.attemptCount === 0 ? 'Waiting for the first attempt.' : `Waiting for attempt ${row.attemptCount + 1}.`
}

/** The API representation of a delivery. */
const deliveryRecord = (row: DeliveryRow, what: string) => {
  const { webhookStatus: _, isWaiting: _isWaiting, ...shown } = row
  return { ...shown, statusReason: reasonOf(row, what), retryCount: Math.max(0, row.attemptCount - 1) }
}

/** The matching events among up to 2,000; undefined without a filter. */
const filterEvents = async (
  db: Db,
  actor: Actor,
  webhookId: string | null,
  { limit, cursor, type, status, since, until }: EventFilterQuery,
) => {
  if ([type, status, since, until].every((filter) => filter === undefined)) return undefined
  const times = timesOf({ since, until })
  const position = positionOf(cursor)
  const before = times.before !== undefined && times.before < position ? times.before : position
  const rows = await eventQueries.scanEvents(db, actor, webhookId, { after: times.after, before })
  const { chosen, nextCursor } = chooseRows(
    rows,
    limit,
    (row) => isOfType(type, row.type) && (status ?? row.status) === row.status && times.includes(row.receivedAt),
  )
  const ids = chosen.map(({ id }) => id)
  const items = ids.length === 0 ? [] : await eventQueries.listEventsById(db, actor, ids)
  return { items: items.map(eventRecord), nextCursor }
}

/** The events of one webhook, newest first. */
export const listEvents = async (db: Db, actor: Actor, id: string, query: EventFilterQuery) => {
  const { limit, cursor } = query
  const before = positionOf(cursor)
  const { name } = await getWebhook(db, actor, id)
  const filtered = await filterEvents(db, actor, id, query)
  if (filtered) return filtered
  const { items, nextCursor } = pageOf(
    await eventQueries.listEvents(db, actor, id, { limit: limit + 1, before }),
    limit,
  )
  return { items: items.map((row) => eventRecord({ ...row, webhookName: name })), nextCursor }
}

/** The events of all webhooks of the org, newest first. */
export const listRecentEvents = async (db: Db, actor: Actor, query: EventFilterQuery) => {
  const { limit, cursor } = query
  const filtered = await filterEvents(db, actor, null, query)
  if (filtered) return filtered
  const rows = await eventQueries.listRecentEvents(db, actor, { limit: limit + 1, before: positionOf(cursor) })
  const { items, nextCursor } = pageOf(rows, limit)
  return { items: items.map(eventRecord), nextCursor }
}

const eventName = 'Event'
const deliveryName = 'Delivery'

export const getEvent = async (db: Db, actor: Actor, webhookId: string, id: string) => {
  const event = await eventQueries.findEvent(db, actor, webhookId, id)
  if (!event) throw notFound(eventName)
  return eventRecord(event)
}

/** The received event of a `webhook.event.received`. */
export const expandReceivedEvent =
  (db: Db): Expand =>
  async (orgId, { webhookId, eventId }) => {
    const event = await eventQueries.findEvent(db, { orgId }, webhookId as string, eventId as string)
    if (!event) return null
    const { externalId, headers, contentType, payload } = { ...event, ...eventRecord(event) }
    return { externalId, headers, contentType, payload }
  }

const noDestination = 'The webhook has no destination. Set its url first.'

/** Creates a new delivery of an event, regardless of earlier ones and of the allowlist. */
export const replayEvent = async (
  db: Database,
  actor: Actor,
  wake: DeliveryWake,
  { webhookId, eventId }: { webhookId: string; eventId: string },
) => {
  const id = newId()
  await db.transaction(actor, async (db) => {
    const { url } = await getWebhook(db, actor, webhookId, eventName)
    const event = await eventQueries.findEvent(db, actor, webhookId, eventId)
    if (!event) throw notFound(eventName)
    if (url === null) throw validationError(noDestination)
    await queries.queueDelivery(db, actor, { id, webhookId, eventId, eventType: event.type })
    db.afterCommit(() => wake.notify([{ orgId: actor.orgId, webhookId }]))
  })
  return webhookDeliveries.get(db, actor, webhookId, id)
}

/** What deliveries are sent to: webhooks or event endpoints. */
export interface Destinations {
  table: DestinationTable
  /** The kind of resource in sentences: `webhook`. */
  name: string
  /** NOT_FOUND names `resource`. */
  get(db: Db, actor: Actor, id: string, resource?: string): Promise<{ url: string | null }>
}

const retryDelivery = async (
  { table, name, get }: Destinations,
  db: Transaction,
  actor: Actor,
  { webhookId, id }: { webhookId: string; id: string },
): Promise<void> => {
  const { url } = await get(db, actor, webhookId, deliveryName)
  const delivery = await queries.findDelivery(db, { orgId: actor.orgId, table, webhookId }, id)
  if (!delivery) throw notFound(deliveryName)
  if (delivery.status === 'succeeded') {
    const hint = table === 'webhooks' ? ' Replay its event instead.' : ''
    throw validationError(`The delivery has succeeded.${hint}`)
  }
  if (delivery.isWaiting)
    throw validationError(`The delivery waits for an earlier one of this ${name}. Retry that one.`)
  if (url === null) throw validationError(noDestination)
  // The delivery has ended in the meantime, so it is in the history instead of the queue.
  if ((await queries.makeDue(db, actor, webhookId, id)) === 0) await queries.requeueFailed(db, actor, webhookId, id)
}

const recoverDeliveries = async (
  db: Database,
  actor: Actor,
  wake: DeliveryWake,
  { webhookId, since }: { webhookId: string; since: string },
): Promise<number> => {
  // In ascending order of ids, so that a delivery that fails again during the request is not retried twice.
  let position = smallestIdOf(Date.parse(since) - idLeadMs)
  let queued = 0
  for (;;) {
    const rows = await queries.requeueFailedAfter(db, actor, webhookId, {
      since: new Date(since).toISOString(),
      after: position,
      limit: recoverBatch,
    })
    queued += rows.length
    wake.notify([{ orgId: actor.orgId, webhookId }])
    if (rows.length < recoverBatch) return queued
    position = rows.map(({ id }) => id).reduce((a, b) => (a > b ? a : b))
  }
}

const lists = {
  all: queries.listDeliveries,
  unfinished: queries.listQueued,
  succeeded: queries.listEnded,
  failed: queries.listFailed,
}

/**
 * The matching deliveries among up to 2,000; undefined without a filter other than the status. Those of one event begin
 * with the oldest, because the first one was queued with the event, and any number of others can follow.
 */
const filterDeliveries = async (
  db: Db,
  key: DestinationKey,
  { limit, cursor, status, type, eventId, since, until }: DeliveryListQuery,
) => {
  if ([type, eventId, since, until].every((filter) => filter === undefined)) return undefined
  const times = timesOf({ since, until })
  const range = { after: times.after, before: times.before ?? lastId }
  if (eventId !== undefined) {
    const first = idLater(eventId, -idLeadMs)
    const after = cursor === undefined ? first : positionOf(cursor)
    if (after > range.after) range.after = after
  } else if (positionOf(cursor) < range.before) range.before = positionOf(cursor)
  const rows = await (eventId === undefined ? queries.scanNewest : queries.scanOldest)(db, key, range)
  const { chosen, nextCursor } = chooseRows(
    rows,
    limit,
    (row) =>
      (eventId ?? row.eventId) === row.eventId &&
      (status ?? row.status) === row.status &&
      isOfType(type, row.eventType) &&
      times.includes(row.createdAt),
  )
  const ids = chosen.map(({ id }) => id)
  const found = new Map((await queries.listDeliveriesById(db, key, ids, range)).map((row) => [row.id, row]))
  return { items: ids.flatMap((id) => found.get(id) ?? []), nextCursor }
}

/** The deliveries to webhooks, or to event endpoints. */
export const deliveriesOf = (to: Destinations) => {
  const { table, name } = to
  const what = `The ${name}`

  /** Newest first; those of one event oldest first. */
  const list = async (db: Db, actor: Actor, id: string, query: DeliveryListQuery) => {
    const { limit, cursor, status } = query
    const before = positionOf(cursor)
    await to.get(db, actor, id)
    const key = { orgId: actor.orgId, table, webhookId: id }
    const filtered = await filterDeliveries(db, key, query)
    if (filtered) return { ...filtered, items: filtered.items.map((row) => deliveryRecord(row, what)) }
    const { items, nextCursor } = pageOf(await lists[status ?? 'all'](db, key, { limit: limit + 1, before }), limit)
    // Failed ones are left out here: with a condition of its own, the statement would read all of a long outage.
    const shown = status === 'succeeded' ? items.filter((row) => row.status === status) : items
    return { items: shown.map((row) => deliveryRecord(row, what)), nextCursor }
  }

  const get = async (db: Db, actor: Actor, webhookId: string, id: string) => {
    const row = await queries.findDelivery(db, { orgId: actor.orgId, table, webhookId }, id)
    if (!row) throw notFound(deliveryName)
    return deliveryRecord(row, what)
  }

  /**
   * Retries a delivery now. VALIDATION_ERROR if it has succeeded, waits for an earlier one, or has no destination.
   */
  const retry = async (
    db: Database,
    actor: Actor,
    wake: DeliveryWake,
    { webhookId, id }: { webhookId: string; id: string },
  ) => {
    await db.transaction(actor, async (db) => {
      await retryDelivery(to, db, actor, { webhookId, id })
      db.afterCommit(() => wake.notify([{ orgId: actor.orgId, webhookId }]))
    })
    return get(db, actor, webhookId, id)
  }

  /**
   * Retries all failed deliveries that were created since a time, and returns their number. Each batch is a transaction
   * of its own: if the request is aborted, the queued ones stay queued and a second request continues.
   */
  const recover = async (
    db: Database,
    actor: Actor,
    wake: DeliveryWake,
    { webhookId, since }: { webhookId: string; since: string },
  ): Promise<number> => {
    const { url } = await to.get(db, actor, webhookId)
    if (url === null) throw validationError(noDestination)
    return recoverDeliveries(db, actor, wake, { webhookId, since })
  }

  return { list, get, retry, recover }
}

export const webhookDeliveries = deliveriesOf({ table: 'webhooks', name: 'webhook', get: getWebhook })
