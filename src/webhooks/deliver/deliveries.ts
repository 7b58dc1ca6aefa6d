import type { Actor } from '../../identity/actor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import * as queries from './queries.ts'
import type { DeliveryRow } from './queries.ts'
import * as eventQueries from '../receive/queries.ts'
import type { WebhookEventRow } from '../receive/queries.ts'
import { shownPayload } from '../receive/payload.ts'
import type { DeliveryWake } from './wake.ts'
import { getWebhook, pageOf, positionOf } from '../webhooks.ts'

export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

const recoverBatch = 500

/** The API representation of an event. */
const eventRecord = ({ body, contentType, ...row }: WebhookEventRow) => ({
  ...row,
  payload: body === null ? null : shownPayload(body, contentType),
})

const reasonOf = (row: DeliveryRow): string | null => {
  if (row.status === 'succeeded') return null
  if (row.status === 'failed') return row.error
  if (row.status === 'sending') return 'Attempt in progress.'
  if (row.status === 'held') return `The webhook is ${row.webhookStatus}. The delivery is sent when it is active again.`
  return row.attemptCount === 0 ? 'Waiting for the first attempt.' : `Waiting for attempt ${row.attemptCount + 1}.`
}

/** The API representation of a delivery. */
const deliveryRecord = ({ webhookStatus, ...row }: DeliveryRow) => ({
  ...row,
  statusReason: reasonOf({ webhookStatus, ...row }),
  retryCount: Math.max(0, row.attemptCount - 1),
})

/** The events of one webhook, newest first. */
export const listEvents = async (db: Db, actor: Actor, id: string, { limit, cursor }: PageQuery) => {
  const before = positionOf(cursor)
  const { name } = await getWebhook(db, actor, id)
  const { items, nextCursor } = pageOf(
    await eventQueries.listEvents(db, actor, id, { limit: limit + 1, before }),
    limit,
  )
  return { items: items.map((row) => eventRecord({ ...row, webhookName: name })), nextCursor }
}

/** The events of all webhooks of the org, newest first. */
export const listRecentEvents = async (db: Db, actor: Actor, { limit, cursor }: PageQuery) => {
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

/** The deliveries of one webhook, newest first. */
export const listDeliveries = async (db: Db, actor: Actor, id: string, { limit, cursor }: PageQuery) => {
  const before = positionOf(cursor)
  await getWebhook(db, actor, id)
  const { items, nextCursor } = pageOf(await queries.listDeliveries(db, actor, id, { limit: limit + 1, before }), limit)
  return { items: items.map(deliveryRecord), nextCursor }
}

export const getDelivery = async (db: Db, actor: Actor, webhookId: string, id: string) => {
  const row = await queries.findDelivery(db, actor, webhookId, id)
  if (!row) throw notFound(deliveryName)
  return deliveryRecord(row)
}

const noDestination = 'The webhook has no destination. Set its url first.'

/** Retries a delivery now. VALIDATION_ERROR if it has succeeded, or if the webhook has no destination. */
export const retryDelivery = async (
  db: Database,
  actor: Actor,
  wake: DeliveryWake,
  { webhookId, id }: { webhookId: string; id: string },
) => {
  await db.transaction(actor, async (db) => {
    const { url } = await getWebhook(db, actor, webhookId, deliveryName)
    const delivery = await queries.findDelivery(db, actor, webhookId, id)
    if (!delivery) throw notFound(deliveryName)
    if (delivery.status === 'succeeded') throw validationError('The delivery has succeeded. Replay its event instead.')
    if (url === null) throw validationError(noDestination)
    // The delivery has ended in the meantime, so it is in the history instead of the queue.
    if ((await queries.makeDue(db, actor, webhookId, id)) === 0) await queries.requeueFailed(db, actor, webhookId, id)
    db.afterCommit(() => wake.notify([{ orgId: actor.orgId, webhookId }]))
  })
  return getDelivery(db, actor, webhookId, id)
}

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
  return getDelivery(db, actor, webhookId, id)
}

/** An id can be older than its row's created_at: it is generated earlier and with another clock. */
const idLeadMs = 3_600_000

const smallestIdOf = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

/**
 * Retries all failed deliveries that were created since a time, and returns their number. Each batch is a transaction
 * of its own: if the request is aborted, the queued ones stay queued and a second request continues.
 */
export const recoverDeliveries = async (
  db: Database,
  actor: Actor,
  wake: DeliveryWake,
  { webhookId, since }: { webhookId: string; since: string },
): Promise<number> => {
  const { url } = await getWebhook(db, actor, webhookId)
  if (url === null) throw validationError(noDestination)
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
