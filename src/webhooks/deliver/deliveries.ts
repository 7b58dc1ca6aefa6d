import type { Actor } from '../../identity/actor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import * as queries from './queries.ts'
import type { DeliveryRow } from './queries.ts'
import * as eventQueries from '../receive/queries.ts'
import type { EventRow } from '../receive/queries.ts'
import { shownPayload } from '../receive/payload.ts'
import type { Wakeup } from './wakeup.ts'
import { getWebhook, pageOf, positionOf } from '../webhooks.ts'

export interface ListQuery {
  limit: number
  cursor?: string | undefined
}

const recoverBatch = 500

/** An event as the API shows it. */
const eventRecord = ({ body, contentType, ...row }: EventRow) => ({
  ...row,
  payload: body === null ? null : shownPayload(body, contentType),
})

const reasonOf = (row: DeliveryRow): string | null => {
  if (row.status === 'succeeded') return null
  if (row.status === 'failed') return row.error
  if (row.status === 'sending') return 'An attempt is under way.'
  if (row.status === 'held') return `The webhook is ${row.webhookStatus}; it goes out when the webhook is active again.`
  return row.attemptCount === 0 ? 'It waits for its first attempt.' : `It waits for attempt ${row.attemptCount + 1}.`
}

/** A delivery as the API shows it. */
const deliveryRecord = ({ webhookStatus, ...row }: DeliveryRow) => ({
  ...row,
  statusReason: reasonOf({ webhookStatus, ...row }),
  retryCount: Math.max(0, row.attemptCount - 1),
})

/** The events of one webhook, newest first. */
export const listEvents = async (db: Db, actor: Actor, id: string, { limit, cursor }: ListQuery) => {
  const before = positionOf(cursor)
  const { name } = await getWebhook(db, actor, id)
  const { items, nextCursor } = pageOf(await eventQueries.listEvents(db, actor, id, limit + 1, before), limit)
  return { items: items.map((row) => eventRecord({ ...row, webhookName: name })), nextCursor }
}

/** The latest events of all webhooks of the org. */
export const listRecentEvents = async (db: Db, actor: Actor, { limit, cursor }: ListQuery) => {
  const rows = await eventQueries.listRecentEvents(db, actor, limit + 1, positionOf(cursor))
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
export const listDeliveries = async (db: Db, actor: Actor, id: string, { limit, cursor }: ListQuery) => {
  const before = positionOf(cursor)
  await getWebhook(db, actor, id)
  const { items, nextCursor } = pageOf(await queries.listDeliveries(db, actor, id, limit + 1, before), limit)
  return { items: items.map(deliveryRecord), nextCursor }
}

export const getDelivery = async (db: Db, actor: Actor, webhookId: string, id: string) => {
  const row = await queries.findDelivery(db, actor, webhookId, id)
  if (!row) throw notFound(deliveryName)
  return deliveryRecord(row)
}

const forwardsNowhere = 'The webhook forwards nowhere: give it a url first.'

/** One more attempt now. VALIDATION_ERROR for one that has succeeded, and where there is nowhere to forward to. */
export const retryDelivery = async (db: Database, actor: Actor, wakeup: Wakeup, webhookId: string, id: string) => {
  await db.transaction(actor, async (db) => {
    const { url } = await getWebhook(db, actor, webhookId, deliveryName)
    const delivery = await queries.findDelivery(db, actor, webhookId, id)
    if (!delivery) throw notFound(deliveryName)
    if (delivery.status === 'succeeded') throw validationError('The delivery has succeeded; replay its event instead.')
    if (url === null) throw validationError(forwardsNowhere)
    // It may come to its end in between; then there is nothing to hasten, and it is in the history.
    if ((await queries.hasten(db, actor, webhookId, id)) === 0) await queries.requeueFailed(db, actor, webhookId, id)
    db.afterCommit(() => wakeup.notify([{ orgId: actor.orgId, webhookId }]))
  })
  return getDelivery(db, actor, webhookId, id)
}

/** A new delivery of an event, whatever became of earlier ones and whether or not its type is on the allowlist. */
export const replayEvent = async (db: Database, actor: Actor, wakeup: Wakeup, webhookId: string, eventId: string) => {
  const id = newId()
  await db.transaction(actor, async (db) => {
    const { url } = await getWebhook(db, actor, webhookId, eventName)
    const event = await eventQueries.findEvent(db, actor, webhookId, eventId)
    if (!event) throw notFound(eventName)
    if (url === null) throw validationError(forwardsNowhere)
    await queries.queueAgain(db, actor, { id, webhookId, eventId, eventType: event.type })
    db.afterCommit(() => wakeup.notify([{ orgId: actor.orgId, webhookId }]))
  })
  return getDelivery(db, actor, webhookId, id)
}

/** An id is made before the row that it is for, by another clock. */
const idLeadMs = 3_600_000

const smallestIdOf = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

/**
 * Tries again all that were created since a moment and have failed. By the batch, each its own transaction: what is
 * queued stays queued when the request is cut off, and asking again goes on where it was.
 */
export const recoverDeliveries = async (
  db: Database,
  actor: Actor,
  wakeup: Wakeup,
  webhookId: string,
  since: string,
): Promise<number> => {
  const { url } = await getWebhook(db, actor, webhookId)
  if (url === null) throw validationError(forwardsNowhere)
  // Upwards by id, so that one which fails again meanwhile is not met a second time.
  let position = smallestIdOf(Date.parse(since) - idLeadMs)
  let queued = 0
  for (;;) {
    const rows = await queries.requeueFailedAfter(db, actor, webhookId, {
      since: new Date(since).toISOString(),
      after: position,
      limit: recoverBatch,
    })
    queued += rows.length
    wakeup.notify([{ orgId: actor.orgId, webhookId }])
    if (rows.length < recoverBatch) return queued
    position = rows.map(({ id }) => id).reduce((a, b) => (a > b ? a : b))
  }
}
