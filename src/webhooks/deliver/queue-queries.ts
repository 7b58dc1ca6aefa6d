import type { EventChain } from '../../outbox/chain.ts'
import { insertOutboxOf } from '../../outbox/queries.ts'
import type { ConditionalOutboxRow } from '../../outbox/queries.ts'
import { empty, raw, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { DeliveryLane } from './lane-queries.ts'

// These statements run on `db.indexed`, where plans are made once and kept. They rely on exactly one index for each way
// to the queue's rows: `webhook_id` and `due_at` for a lane, `number` for a delivery, `order_key` for a subject. While the
// table is empty or each org has few rows, the planner considers every index with one of the columns equally good, and it
// keeps that plan when the table fills.

/** On a distributed schema, a claim or a batch of outcomes belongs to one org, and each table is read for that org only. */
const ofOrg = (orgId: string | null, alias: string): Sql =>
  orgId === null ? empty : sql`and ${raw(alias)}.org_id = ${orgId}`

/** What a delivery is sent to: a webhook with a URL, an event endpoint, or the URL of a client for the states of a task. */
export type Destination = 'webhook' | 'endpoint' | 'task'

/** A delivery that a worker has claimed, with everything that an attempt needs. */
export interface ClaimedRow {
  orgId: string
  id: string
  /** Position in the queue. */
  number: bigint
  webhookId: string
  eventId: string
  eventType: string
  attemptCount: number
  manual: boolean
  /** Deliveries with the same key are sent one after another; null: in any order. */
  orderKey: string | null
  token: string
  destination: Destination
  url: string | null
  /** Encrypted. */
  secret: string
  /** When the first attempt failed after the last success, to the microsecond; null if the last attempt succeeded. */
  failingSince: string | null
  failingSeconds: number | null
  /** Who set the URL of an event endpoint or of a task. Null for a webhook. */
  userId: string | null
  apiKeyId: string | null
  scopes: string[] | null
  /** Whether an event endpoint receives the contents that events refer to. Null for other destinations. */
  expand: boolean | null
  /** The expression whose result an event endpoint receives instead of the event. Null: none. */
  transform: string | null
  /**
   * Null if the event was deleted at the end of its retention period. Also null for events of Atrium, which are read from
   * the log.
   */
  body: Buffer | null
  contentType: string | null
  headers: Record<string, string> | null
}

export interface DeliveryClaim {
  /** Lanes with the maximum number of deliveries to claim from each, and from all lanes of its org. Default: `slots`. */
  lanes: readonly (DeliveryLane & { slots: number; orgSlots?: number; orgBytes?: number })[]
  /** Maximum number of deliveries to claim in total. */
  slots: number
  token: string
  leaseSeconds: number
}

const maxInt = 2_147_483_647

/**
 * Claims due deliveries, first attempts before retries. Skips deliveries that another worker is claiming. With `orgId`,
 * all lanes must be of that org.
 */
export const claimDeliveries = (
  db: Db,
  { lanes, slots, token, leaseSeconds }: DeliveryClaim,
  orgId: string | null = null,
) =>
  db.rows<ClaimedRow>(sql`-- all orgs: workers serve all orgs
    with lanes as (
      select l.org_id, l.webhook_id, l.slots, l.org_slots, l.org_bytes
      from unnest(${lanes.map((lane) => lane.orgId)}::uuid[], ${lanes.map((lane) => lane.webhookId)}::uuid[],
        ${lanes.map((lane) => lane.slots)}::int[], ${lanes.map((lane) => lane.orgSlots ?? slots)}::int[],
        ${lanes.map((lane) => lane.orgBytes ?? maxInt)}::int[])
        as l (org_id, webhook_id, slots, org_slots, org_bytes)
      where coalesce(
        (select w.status from webhooks w where w.org_id = l.org_id and w.id = l.webhook_id ${ofOrg(orgId, 'w')}),
        (select t.status from event_endpoints t where t.org_id = l.org_id and t.id = l.webhook_id ${ofOrg(orgId, 't')}),
        (select 'active' from task_push_configs t where t.org_id = l.org_id and t.id = l.webhook_id ${ofOrg(orgId, 't')})
      ) = 'active'
    ), due as (
      -- The place of a delivery among those of its org, so that no org has to wait for another one with more deliveries.
      select l.org_id, l.webhook_id, l.org_slots, l.org_bytes, c.number, c.event_id,
        row_number() over (partition by l.org_id order by c.retried, c.due_at) as place
      from lanes l cross join lateral (
        (select q.number, q.event_id, q.retried, q.due_at from webhook_queue q
          where q.webhook_id = l.webhook_id ${ofOrg(orgId, 'q')} and not q.retried and q.due_at <= now()
          order by q.due_at limit l.slots)
        union all
        (select q.number, q.event_id, q.retried, q.due_at from webhook_queue q
          where q.webhook_id = l.webhook_id ${ofOrg(orgId, 'q')} and q.retried and q.due_at <= now()
          order by q.due_at limit l.slots)
        order by retried, due_at limit l.slots) c
    ), candidates as (
      select * from due where place <= org_slots order by place limit ${slots}
    ), sized as (
      -- Does not read large bodies, only their lengths.
      select c.number, c.org_bytes, e.body, e.content_type, e.headers,
        coalesce(sum(length(e.body)) over (partition by c.org_id order by c.place
          rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from candidates c left join lateral (
        -- Names all columns of either index, because a new partition is an empty table to the planner, too.
        select body, content_type, headers from webhook_events e
        where e.org_id = c.org_id and e.webhook_id = c.webhook_id and e.id = c.event_id ${ofOrg(orgId, 'e')} limit 1
      ) e on true
    ), locked as (
      select q.number from webhook_queue q
      where q.number = any(array(select number from sized where bytes_before < org_bytes)) ${ofOrg(orgId, 'q')}
        -- Checked again under the lock. With "is true" the planner cannot use the index on due_at.
        and (q.due_at <= now()) is true
      for update skip locked
    ), claimed as (
      update webhook_queue q set lease_token = ${token}, due_at = now() + ${leaseSeconds} * interval '1 second'
      where q.number = any(array(select number from locked)) ${ofOrg(orgId, 'q')}
      returning q.*
    )
    select c.org_id, c.id, c.number, c.webhook_id, c.event_id, c.event_type, c.attempt_count, c.manual, c.order_key,
      c.lease_token as token, d.destination, d.url, d.secret, d.failing_since,
      extract(epoch from now() - d.failing_since::timestamptz)::float8 as failing_seconds, d.user_id, d.api_key_id,
      d.scopes, d.expand, d.transform, e.body, e.content_type, e.headers
    from claimed c
      -- The other tables are read for the deliveries for which there is no webhook only.
      cross join lateral (
        select 'webhook' as destination, w.url, w.secret, w.failing_since::text as failing_since, null::uuid as user_id,
          null::uuid as api_key_id, null::text[] as scopes, null::boolean as expand, null::text as transform
        from webhooks w where w.org_id = c.org_id and w.id = c.webhook_id ${ofOrg(orgId, 'w')}
        union all
        select 'endpoint', t.url, t.secret, t.failing_since::text, t.user_id, t.api_key_id, t.scopes, t.expand,
          t.transform
        from event_endpoints t where t.org_id = c.org_id and t.id = c.webhook_id ${ofOrg(orgId, 't')}
        union all
        select 'task', t.url, t.secret, null, t.user_id, t.api_key_id, t.scopes, null, null
        from task_push_configs t where t.org_id = c.org_id and t.id = c.webhook_id ${ofOrg(orgId, 't')}
        limit 1) d
      join sized e on e.number = c.number`)

/** How an attempt ended. */
export interface Outcome extends Pick<ClaimedRow, 'id' | 'eventId' | 'eventType' | 'failingSeconds'> {
  orgId: string
  number: bigint
  webhookId: string
  destination: Destination
  orderKey: string | null
  token: string
  /** retry: after `delaySeconds`. released: no request was sent, another worker may claim it. */
  kind: 'succeeded' | 'failed' | 'retry' | 'released'
  delaySeconds: number
  /** JSON of an `AttemptRecord`; null if no request was sent. */
  attempt: string | null
  url: string | null
  response: string | null
  error: string | null
  /** Disables the webhook or event endpoint with this reason. */
  disableReason: string | null
  /** The reason applies only if it has been failing since then; null: in any case. */
  failingSince: string | null
  /** The chain of the event, which the events of the outcome continue. */
  chain: EventChain | undefined
  /** Not stored: it sets how many attempts to the webhook may run at once. */
  durationMs: number
}

export interface Disabled {
  destination: Destination
  orgId: string
  webhookId: string
  name: string
  reason: string
}

/** Of one org without a join: Citus 13 reads the result of a join with row locks in another format than it was written. */
const countedWebhooks = (orgId: string | null): Sql =>
  orgId === null
    ? sql`webhooks w join counts c on c.org_id = w.org_id and c.webhook_id = w.id`
    : sql`webhooks w where w.org_id = ${orgId} and w.id = any(array(select webhook_id from counts))`

const countedEndpoints = (orgId: string | null): Sql =>
  orgId === null
    ? sql`event_endpoints w join counts c on c.org_id = w.org_id and c.webhook_id = w.id`
    : sql`event_endpoints w where w.org_id = ${orgId} and w.id = any(array(select webhook_id from counts))`

/** The counters of a destination after attempts, and its status. */
const counters = sql`
  delivery_count = w.delivery_count + c.first_attempts, last_delivery_at = now(),
  failing_since = case when not c.succeeded then coalesce(w.failing_since, (select now())) end,
  status = case when off.reason is not null then 'disabled' else w.status end,
  status_reason = coalesce(off.reason, w.status_reason),
  revision = w.revision + (off.reason is not null)::int,
  updated_at = case when off.reason is not null then (select now()) else w.updated_at end`

/** Why the destination `o` with the counts `c` is disabled; null: it is not. */
const disabling = sql`
  cross join lateral (select case
    when o.status = 'disabled' then null
    when c.disable_reason is not null then c.disable_reason
    when not c.succeeded and o.failing_since = c.failing_since then c.failing_reason end as reason) off`

/** Changes the counters of each destination in `counts`. Locks them in the order of their ids. */
const countDestinations = (orgId: string | null): Sql => sql`webhooks_in_order as (
      select w.org_id, w.id, w.status, w.failing_since
      from ${countedWebhooks(orgId)}
      order by w.org_id, w.id
      for no key update of w
    ), counted_webhooks as (
      update webhooks w
      set ${counters}
      from webhooks_in_order o
        join counts c on c.org_id = o.org_id and c.webhook_id = o.id
        ${disabling}
      where w.org_id = o.org_id and w.id = o.id ${ofOrg(orgId, 'w')}
      returning w.org_id, w.id, w.name, off.reason
    ), endpoints_in_order as (
      select w.org_id, w.id, w.status, w.failing_since
      from ${countedEndpoints(orgId)}
      order by w.org_id, w.id
      for no key update of w
    ), counted_endpoints as (
      update event_endpoints w
      set ${counters}
      from endpoints_in_order o
        join counts c on c.org_id = o.org_id and c.webhook_id = o.id
        ${disabling}
      where w.org_id = o.org_id and w.id = o.id ${ofOrg(orgId, 'w')}
      returning w.org_id, w.id, w.name, off.reason
    )`

const reportOutcomes = (events: readonly ConditionalOutboxRow[]): Sql => sql`reported as (
  ${insertOutboxOf(
    events,
    sql`select id::text from ended union all
      select c.webhook_id::text from counts c
        join webhooks_in_order o on o.org_id = c.org_id and o.id = c.webhook_id
      where c.succeeded and o.failing_since is not null`,
  )})`

/**
 * Records how attempts ended, in one statement: ended deliveries move to the history, the others wait, and the
 * counters of each webhook or event endpoint change. Rows whose lease another worker has are not touched. Returns those
 * that it disabled. Of `events`, those of ended deliveries (whose id is the key) and of webhooks that were failing and have
 * succeeded are recorded. With `orgId`, all outcomes must be of that org.
 */
export const settleDeliveries = (
  db: Db,
  outcomes: readonly Outcome[],
  orgId: string | null = null,
  events: readonly ConditionalOutboxRow[] = [],
) => {
  const column = <Key extends keyof Outcome>(key: Key): Outcome[Key][] => outcomes.map((outcome) => outcome[key])
  return db.rows<Disabled>(sql`-- all orgs: workers serve all orgs
    with given as (
      select *, now() + delay_seconds * interval '1 second' as next_due_at from unnest(${column('number')}::bigint[], ${column('token')}::uuid[], ${column('kind')}::text[],
          ${column('delaySeconds')}::float8[], ${column('attempt')}::text[], ${column('url')}::text[],
          ${column('response')}::text[], ${column('error')}::text[], ${column('disableReason')}::text[],
          ${column('failingSince')}::timestamptz[])
        as g (number, token, kind, delay_seconds, attempt, url, response, error, disable_reason, failing_since)
    ), ended as (
      delete from webhook_queue q using given g
      where q.number = any(${column('number')}::bigint[]) ${ofOrg(orgId, 'q')}
        and q.number = g.number and q.lease_token = g.token and g.kind in ('succeeded', 'failed')
      returning q.*
    ), moved as (
      insert into webhook_deliveries (org_id, id, webhook_id, event_id, event_type, status, url, attempt_count, attempts,
        response, error, created_at)
      select e.org_id, e.id, e.webhook_id, e.event_id, e.event_type, g.kind, g.url,
        e.attempt_count + (g.attempt is not null)::int,
        case when g.attempt is null then e.attempts else e.attempts || g.attempt::jsonb end,
        coalesce(g.response::jsonb, e.response), g.error, e.created_at
      from ended e join given g on g.number = e.number
    ), waiting as (
      update webhook_queue q
      set lease_token = null, updated_at = now(), due_at = g.next_due_at,
        attempt_count = q.attempt_count + (g.attempt is not null)::int, retried = q.retried or g.attempt is not null,
        manual = q.manual and g.attempt is null,
        attempts = case when g.attempt is null then q.attempts else q.attempts || g.attempt::jsonb end,
        response = case when g.attempt is null then q.response else g.response::jsonb end,
        error = case when g.attempt is null then q.error else g.error end
      from given g
      where q.number = any(${column('number')}::bigint[]) ${ofOrg(orgId, 'q')}
        and q.number = g.number and q.lease_token = g.token and g.kind in ('retry', 'released')
      returning q.org_id, q.number, q.webhook_id, q.attempt_count
    ), settled as (
      select org_id, number, webhook_id, attempt_count + 1 as attempt_count from ended
      union all select org_id, number, webhook_id, attempt_count from waiting
    ), counts as (
      select s.org_id, s.webhook_id, count(*) filter (where s.attempt_count = 1) as first_attempts,
        bool_or(g.kind = 'succeeded') as succeeded,
        min(g.disable_reason) filter (where g.failing_since is null) as disable_reason,
        min(g.disable_reason) filter (where g.failing_since is not null) as failing_reason,
        max(g.failing_since) as failing_since
      from settled s join given g on g.number = s.number
      where g.attempt is not null
      group by s.org_id, s.webhook_id
    ), ${countDestinations(orgId)}
    ${events.length > 0 ? sql`, ${reportOutcomes(events)}` : empty}
    select 'webhook' as destination, org_id, id as webhook_id, name, reason from counted_webhooks where reason is not null
    union all
    select 'endpoint', org_id, id, name, reason from counted_endpoints where reason is not null`)
}

/** Locks event endpoints until the end of the transaction, in the order in which `settleDeliveries` locks them. */
export const lockEndpoints = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    select id from event_endpoints where org_id = ${orgId} and id = any(${ids}::uuid[]) order by id for no key update`)

export interface OrderKey {
  orgId: string
  orderKey: string
}

/** Makes the first delivery of each key due if it waits for its turn. With `orgId`, all keys must be of that org. */
export const releaseNext = (db: Db, keys: readonly OrderKey[], orgId: string | null = null) =>
  db.execute(sql`-- all orgs: workers serve all orgs
    with first as (
      select n.number
      from unnest(${keys.map((key) => key.orgId)}::uuid[], ${keys.map(({ orderKey }) => orderKey)}::text[])
          as k (org_id, order_key)
        cross join lateral (
          select q.number, q.due_at from webhook_queue q
          where q.order_key = k.order_key
            -- With "is true" the planner cannot use an index that begins with org_id.
            and ${orgId === null ? sql`(q.org_id = k.org_id) is true` : sql`q.org_id = ${orgId}::uuid`}
          order by q.order_number limit 1) n
      where n.due_at = 'infinity'
    )
    update webhook_queue q set due_at = now()
    where q.number = any(array(select number from first)) ${ofOrg(orgId, 'q')}`)

/** The number of due deliveries, and the seconds since the oldest became due; for operators. */
export const findDeliveryBacklog = async (db: Db): Promise<{ due: number; oldestSeconds: number }> => {
  const row = await db.row<{ due: number; oldestSeconds: number }>(sql`-- all orgs: a metric of the server
    select count(*)::int as due, coalesce(max(extract(epoch from now() - q.due_at)), 0)::float8 as oldest_seconds
    from webhook_queue q
      left join webhooks w on w.org_id = q.org_id and w.id = q.webhook_id
      left join event_endpoints t on t.org_id = q.org_id and t.id = q.webhook_id
      left join task_push_configs p on p.org_id = q.org_id and p.id = q.webhook_id
    where q.due_at <= now() and (coalesce(w.status, t.status) = 'active' or p.id is not null)`)
  return row ?? { due: 0, oldestSeconds: 0 }
}
