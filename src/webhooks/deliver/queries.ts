import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { pageBound } from '../../platform/database/partitions.ts'
import type { IdRange } from '../filters.ts'
import type { IdPage } from '../receive/queries.ts'

export interface AttemptRecord {
  number: number
  trigger: 'automatic' | 'manual'
  at: string
  durationMs: number
  url: string
  responseStatus: number | null
  error: string | null
}

export interface ResponseRecord {
  status: number
  headers: Record<string, string>
  body: string
  truncated: boolean
  durationMs: number
}

export interface DeliveryRow {
  id: string
  webhookId: string
  eventId: string
  eventType: string
  status: 'pending' | 'sending' | 'succeeded' | 'failed' | 'held'
  webhookStatus: 'active' | 'paused' | 'disabled'
  url: string | null
  attemptCount: number
  attempts: AttemptRecord[]
  response: ResponseRecord | null
  error: string | null
  nextAttemptAt: string | null
  /** An earlier delivery with the same order key has not ended. */
  isWaiting: boolean
  createdAt: string
  updatedAt: string
}

/** The table of the destinations of deliveries. */
export type DestinationTable = 'webhooks' | 'event_endpoints'

const tables = { webhooks: sql`webhooks`, event_endpoints: sql`event_endpoints` }

/** Deliveries are in the queue until they end and then in the history. The API shows both as one list. */
const queued = (table: DestinationTable): Sql => sql`
  select q.id, q.webhook_id, q.event_id, q.event_type,
    case when q.lease_token is not null and q.due_at > now() then 'sending' when w.status <> 'active' then 'held'
      else 'pending' end as status,
    w.status as webhook_status, w.url, q.attempt_count, q.attempts, q.response, q.error,
    case when w.status = 'active' and q.lease_token is null and q.due_at < 'infinity' then q.due_at end
      as next_attempt_at,
    q.due_at = 'infinity' as is_waiting, q.created_at, q.updated_at
  from webhook_queue q join ${tables[table]} w on w.org_id = q.org_id and w.id = q.webhook_id`

const ended = (table: DestinationTable): Sql => sql`
  select d.id, d.webhook_id, d.event_id, d.event_type, d.status, w.status as webhook_status, d.url, d.attempt_count,
    d.attempts, d.response, d.error, null::timestamptz as next_attempt_at, false as is_waiting, d.created_at,
    d.updated_at
  from webhook_deliveries d join ${tables[table]} w on w.org_id = d.org_id and w.id = d.webhook_id`

export interface DestinationKey {
  orgId: string
  table: DestinationTable
  webhookId: string
}

const queuedPage = ({ orgId, table, webhookId }: DestinationKey, { limit, before }: IdPage): Sql => sql`
  ${queued(table)} where q.org_id = ${orgId} and q.webhook_id = ${webhookId} and q.id < ${before}
  order by q.id desc limit ${limit}`

const endedPage = (
  { orgId, table, webhookId }: DestinationKey,
  { limit, before }: IdPage,
  only: Sql = empty,
): Sql => sql`
  select * from (
    ${ended(table)} where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id < ${before} ${only}
    order by d.id desc ${pageBound}) e order by id desc limit ${limit}`

/** Newest first, with ids below `before`. */
export const listDeliveries = (db: Db, key: DestinationKey, page: IdPage) =>
  db.rows<DeliveryRow>(sql`
    (${queuedPage(key, page)}) union all (${endedPage(key, page)}) order by id desc limit ${page.limit}`)

export const listQueued = (db: Db, key: DestinationKey, page: IdPage) =>
  db.rows<DeliveryRow>(sql`${queuedPage(key, page)}`)

export const listEnded = (db: Db, key: DestinationKey, page: IdPage) =>
  db.rows<DeliveryRow>(sql`${endedPage(key, page)}`)

/** By the index `webhook_deliveries_failed`. */
export const listFailed = (db: Db, key: DestinationKey, page: IdPage) =>
  db.rows<DeliveryRow>(sql`${endedPage(key, page, sql`and d.status = 'failed'`)}`)

export interface ScannedDelivery {
  id: string
  eventId: string
  eventType: string
  status: 'unfinished' | 'succeeded' | 'failed'
  createdAt: string
}

const scan = ({ orgId, webhookId }: DestinationKey, { after, before }: IdRange, order: Sql): Sql => sql`
  select * from (
    (select id, event_id, event_type, 'unfinished' as status, created_at from webhook_queue
     where org_id = ${orgId} and webhook_id = ${webhookId} and id > ${after} and id < ${before}
     ${order} limit 2000)
    union all
    (select id, event_id, event_type, status, created_at from webhook_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId} and id > ${after} and id < ${before}
     ${order} limit 2000)) s ${order} limit 2000`

/** What filters compare, of the 2,000 newest deliveries of a range. */
export const scanNewest = (db: Db, key: DestinationKey, range: IdRange) =>
  db.rows<ScannedDelivery>(sql`${scan(key, range, sql`order by id desc`)}`)

/** The same of the 2,000 oldest. */
export const scanOldest = (db: Db, key: DestinationKey, range: IdRange) =>
  db.rows<ScannedDelivery>(sql`${scan(key, range, sql`order by id`)}`)

/** Deliveries by ids, of which there is at least one, in no order. */
export const listDeliveriesById = (
  db: Db,
  { orgId, table, webhookId }: DestinationKey,
  ids: readonly string[],
  { after, before }: IdRange,
) =>
  db.rows<DeliveryRow>(sql`
    ${queued(table)} where q.org_id = ${orgId} and q.webhook_id = ${webhookId} and q.id = any(${ids}::uuid[])
    union all
    ${ended(table)} where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id = any(${ids}::uuid[])
      and d.id > ${after} and d.id < ${before}`)

export const findDelivery = (db: Db, { orgId, table, webhookId }: DestinationKey, id: string) =>
  db.row<DeliveryRow>(sql`
    ${queued(table)} where q.org_id = ${orgId} and q.webhook_id = ${webhookId} and q.id = ${id}
    union all
    ${ended(table)} where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id = ${id}`)

/** Makes a queued delivery due now, unless a worker has claimed it. Returns the number of rows. */
export const makeDue = (db: Db, actor: Actor, webhookId: string, id: string) =>
  db.execute(sql`
    update webhook_queue set due_at = now(), manual = true, updated_at = now()
    where org_id = ${actor.orgId} and webhook_id = ${webhookId} and id = ${id}
      and (lease_token is null or due_at <= now()) and due_at < 'infinity'`)

/** Moves a failed delivery from the history back to the queue with its attempts. First attempts precede it. */
export const requeueFailed = (db: Db, actor: Actor, webhookId: string, id: string) =>
  db.execute(sql`
    with removed as (
      delete from webhook_deliveries
      where org_id = ${actor.orgId} and webhook_id = ${webhookId} and id = ${id} and status = 'failed'
      returning *
    )
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, attempt_count, retried, manual, attempts,
      response, error, created_at)
    select org_id, id, webhook_id, event_id, event_type, attempt_count, true, true, attempts, response, error, created_at
    from removed`)

/** The same for up to `limit` deliveries with ids above `after` that were created since a time. */
export const requeueFailedAfter = (
  db: Db,
  actor: Actor,
  webhookId: string,
  { since, after, limit }: { since: string; after: string; limit: number },
) =>
  db.rows<{ id: string }>(sql`
    with chosen as (
      select org_id, id from webhook_deliveries
      where org_id = ${actor.orgId} and webhook_id = ${webhookId} and status = 'failed' and id > ${after}
        and created_at >= ${since}
      order by id limit ${limit}
      for update skip locked
    ), removed as (
      delete from webhook_deliveries d using chosen c
      where d.org_id = ${actor.orgId} and d.id = c.id and d.id > ${after}
      returning d.*
    )
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, attempt_count, retried, manual, attempts,
      response, error, created_at)
    select org_id, id, webhook_id, event_id, event_type, attempt_count, true, true, attempts, response, error, created_at
    from removed
    returning id`)

/** Queues a new delivery of a stored event. */
export const queueDelivery = (
  db: Db,
  actor: Actor,
  delivery: { id: string; webhookId: string; eventId: string; eventType: string },
) =>
  db.execute(sql`
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, retried, manual)
    values (${actor.orgId}, ${delivery.id}, ${delivery.webhookId}, ${delivery.eventId}, ${delivery.eventType}, true, true)`)
