import type { Actor } from '../../identity/actor.ts'
import { insertOutboxOf } from '../../outbox/queries.ts'
import type { ConditionalOutboxRow } from '../../outbox/queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { pageBound } from '../../platform/database/partitions.ts'
import type { IdRange } from '../filters.ts'

/** A verified event before it is stored. */
export interface NewWebhookEvent {
  orgId: string
  webhookId: string
  id: string
  type: string
  externalId: string | null
  /** Keys of which each is stored once for a webhook; a second event with one of them is a duplicate. */
  idKey: string | null
  bodyKey: string | null
  status: 'recorded' | 'filtered'
  headers: string
  contentType: string | null
  body: Buffer
  /** Null if it is not forwarded. */
  deliveryId: string | null
  /** `webhookId` is an event endpoint, which the event tests. */
  isOfEndpoint?: true
}

/** With the event that reports it. */
export interface ReportedWebhookEvent extends NewWebhookEvent {
  /** Undefined for a test event of an event endpoint, which reports nothing. */
  received: ConditionalOutboxRow | undefined
}

/** The day (UTC) of a UUIDv7, which selects the partition. */
const dayOf = (id: string): string =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString().slice(0, 10)

/**
 * Stores events with their keys and queued deliveries in one statement, which is one transaction and one round trip.
 * Returns the ids of the new ones. No two events may share a key.
 *
 * A body key expires after 24 h. Keys are inserted in order, so that processes that store the same events concurrently
 * cannot deadlock.
 */
export const recordEvents = async (db: Db, events: readonly ReportedWebhookEvent[]): Promise<Set<string>> => {
  const column = <Key extends keyof NewWebhookEvent>(key: Key): NewWebhookEvent[Key][] =>
    events.map((event) => event[key])
  const rows = await db.rows<{ id: string }>(sql`
    with given as (
      select * from unnest(${column('orgId')}::uuid[], ${column('webhookId')}::uuid[], ${column('id')}::uuid[],
          ${column('type')}::text[], ${column('externalId')}::text[], ${column('idKey')}::text[],
          ${column('bodyKey')}::text[], ${column('status')}::text[], ${column('headers')}::text[],
          ${column('contentType')}::text[], ${column('body')}::bytea[], ${column('deliveryId')}::uuid[],
          ${events.map(({ id }) => dayOf(id))}::date[])
        as g (org_id, webhook_id, id, type, external_id, id_key, body_key, status, headers, content_type, body,
          delivery_id, day)
    ), new_ids as (
      insert into webhook_event_keys (org_id, webhook_id, key, event_id)
      select org_id, webhook_id, id_key, id from given where id_key is not null order by webhook_id, id_key
      on conflict do nothing
      returning event_id
    ), new_bodies as (
      insert into webhook_event_keys (org_id, webhook_id, key, event_id)
      select org_id, webhook_id, body_key, id from given
      where body_key is not null and (id_key is null or id in (select event_id from new_ids))
      order by webhook_id, body_key
      on conflict (org_id, webhook_id, key) do update set event_id = excluded.event_id, seen_at = excluded.seen_at
        where excluded.seen_at - webhook_event_keys.seen_at > interval '24 hours'
      returning event_id
    ), fresh as materialized (
      select * from given
      where (id_key is null or id in (select event_id from new_ids))
        and (body_key is null or id in (select event_id from new_bodies))
    ), stored as (
      insert into webhook_events (org_id, id, webhook_id, type, external_id, status, headers, content_type, body)
      select org_id, id, webhook_id, type, external_id, status, headers::jsonb, content_type, body from fresh
    ), queued as (
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
      select org_id, delivery_id, webhook_id, id, type from fresh where delivery_id is not null
    ), reported as (
      ${insertOutboxOf(
        events.flatMap(({ received }) => received ?? []),
        sql`select id::text from fresh`,
      )}
    ), used as (
      insert into org_event_usage (org_id, day, slot, events)
      select org_id, day, pg_backend_pid() % 64, count(*) from fresh group by org_id, day order by org_id, day
      on conflict (org_id, day, slot) do update set events = org_event_usage.events + excluded.events
    )
    select id from fresh`)
  return new Set(rows.map(({ id }) => id))
}

/** The event that was stored with a key. */
export const findEventByKey = (db: Db, orgId: string, webhookId: string, key: string) =>
  db.row<{ eventId: string }>(sql`
    select event_id from webhook_event_keys
    where org_id = ${orgId} and webhook_id = ${webhookId} and key = ${key}`)

/** The event of which this one is a duplicate, as `recordEvents` decides it: that with the same id, or body of 24 hours. */
export const findStoredEvent = (db: Db, { orgId, webhookId, idKey, bodyKey }: NewWebhookEvent) =>
  db.row<{ eventId: string }>(sql`
    select event_id from webhook_event_keys
    where org_id = ${orgId} and webhook_id = ${webhookId} and key = any(${[idKey, bodyKey].filter((key) => key !== null)}::text[])
      and (key = ${idKey}::text or seen_at >= now() - interval '24 hours')
    order by (key = ${idKey}::text) desc nulls last limit 1`)

/** Points the key of an id that arrived with a known body to the event with that body. */
export const pointKey = (
  db: Db,
  { orgId, webhookId, key, eventId }: { orgId: string; webhookId: string; key: string; eventId: string },
) =>
  db.execute(sql`
    update webhook_event_keys set event_id = ${eventId}
    where org_id = ${orgId} and webhook_id = ${webhookId} and key = ${key}`)

export interface WebhookEventRow {
  id: string
  webhookId: string
  webhookName: string
  type: string
  externalId: string | null
  status: 'recorded' | 'filtered'
  headers: Record<string, string>
  contentType: string | null
  sizeBytes: number
  /** Null in lists if it is larger than 64 KB. */
  body: Buffer | null
  receivedAt: string
}

/** A part of a list in descending order of ids. */
export interface IdPage {
  limit: number
  /** Id of the last item of the page before. */
  before: string
}

const listedBodyBytes = 65_536

const listedColumns = sql`id, webhook_id, type, external_id, status, headers, content_type,
  length(body) as size_bytes, case when length(body) <= ${listedBodyBytes} then body end as body, received_at`

/** Newest first, with ids below `before`. Partitions are read from the newest day on until the page is full. */
export const listEvents = (db: Db, actor: Actor, webhookId: string, { limit, before }: IdPage) =>
  db.rows<Omit<WebhookEventRow, 'webhookName'>>(sql`
    select * from (
      select ${listedColumns} from webhook_events
      where org_id = ${actor.orgId} and webhook_id = ${webhookId} and id < ${before}
      order by id desc ${pageBound}
    ) e order by id desc limit ${limit}`)

/**
 * The same for all webhooks of the org, without the remaining events of deleted ones. The names are joined after the
 * limit, so that the order comes from the index.
 */
export const listRecentEvents = (db: Db, actor: Actor, { limit, before }: IdPage) =>
  db.rows<WebhookEventRow>(sql`
    select e.*, w.name as webhook_name
    from (
      select * from (
        select ${listedColumns} from webhook_events
        where org_id = ${actor.orgId} and id < ${before}
          and webhook_id = any(array(select id from webhooks where org_id = ${actor.orgId}))
        order by id desc ${pageBound}
      ) bounded order by id desc limit ${limit}
    ) e join webhooks w on w.org_id = ${actor.orgId} and w.id = e.webhook_id
    order by e.id desc`)

export interface ScannedEvent {
  id: string
  type: string
  status: 'recorded' | 'filtered'
  receivedAt: string
}

/** What filters compare, of the 2,000 newest events of a range. With a null `webhookId`, of all webhooks of the org. */
export const scanEvents = (db: Db, { orgId }: Actor, webhookId: string | null, { after, before }: IdRange) =>
  db.rows<ScannedEvent>(sql`
    select id, type, status, received_at from webhook_events
    where org_id = ${orgId} and id > ${after} and id < ${before}
      and webhook_id = any(array(
        select id from webhooks where org_id = ${orgId} and (${webhookId}::uuid is null or id = ${webhookId}::uuid)))
    order by id desc limit 2000`)

/** Events by ids, of which there is at least one, newest first. */
export const listEventsById = (db: Db, { orgId }: Actor, ids: readonly string[]) =>
  db.rows<WebhookEventRow>(sql`
    select e.*, w.name as webhook_name
    from (
      select ${listedColumns} from webhook_events
      where org_id = ${orgId} and id between ${ids.at(-1)} and ${ids[0]} and id = any(${ids}::uuid[])
    ) e join webhooks w on w.org_id = ${orgId} and w.id = e.webhook_id
    order by e.id desc`)

export const findEvent = (db: Db, { orgId }: Pick<Actor, 'orgId'>, webhookId: string, id: string) =>
  db.row<WebhookEventRow>(sql`
    select e.id, e.webhook_id, w.name as webhook_name, e.type, e.external_id, e.status, e.headers, e.content_type,
      length(e.body) as size_bytes, e.body, e.received_at
    from webhook_events e join webhooks w on w.org_id = e.org_id and w.id = e.webhook_id
    where e.org_id = ${orgId} and e.webhook_id = ${webhookId} and e.id = ${id}`)
