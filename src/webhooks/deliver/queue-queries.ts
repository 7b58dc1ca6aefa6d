import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** The deliveries of one webhook, which take turns among themselves. */
export interface Lane {
  orgId: string
  webhookId: string
}

// These statements run on `db.indexed` and rely on there being one index for each way to the queue's rows: a lane's by
// `webhook_id`, in the order of `due_at`, and a delivery's by `number`. Of an empty table the planner takes every index
// that has one of the wanted columns for as good as the right one, and the plan stays when the table fills.

const laneColumns = sql`org_id, webhook_id`

/**
 * The next lanes after a webhook, in the order of their ids, that have something to do. It hops from lane to lane over
 * the index, so that a backlog of a million deliveries costs no more than one of one. Answers all lanes that it passed;
 * fewer than `limit` means that the end was reached.
 */
export const listLanes = (db: Db, after: string, limit: number) =>
  db.rows<Lane & { isDue: boolean }>(sql`-- all orgs: workers serve everybody
    with recursive lanes as (
      (select ${laneColumns} from webhook_queue where webhook_id > ${after} order by webhook_id limit 1)
      union all
      select next.org_id, next.webhook_id
      from lanes cross join lateral (
        select ${laneColumns} from webhook_queue q where q.webhook_id > lanes.webhook_id order by q.webhook_id limit 1
      ) next
    ), passed as (select ${laneColumns} from lanes limit ${limit})
    select org_id, webhook_id, coalesce(least(
        (select q.due_at from webhook_queue q
          where q.webhook_id = p.webhook_id and not q.retried order by q.due_at limit 1),
        (select q.due_at from webhook_queue q where q.webhook_id = p.webhook_id and q.retried order by q.due_at limit 1)
      ) <= now() and (select w.status from webhooks w where w.org_id = p.org_id and w.id = p.webhook_id) = 'active',
      false) as is_due
    from passed p`)

/** A delivery that a worker has, with all that an attempt needs. */
export interface ClaimedRow {
  orgId: string
  id: string
  /** Its place in the queue. */
  number: bigint
  webhookId: string
  eventId: string
  eventType: string
  attemptCount: number
  manual: boolean
  token: string
  url: string | null
  source: string
  /** Sealed. */
  secret: string
  /** Null when the event is past its retention. */
  body: Buffer | null
  contentType: string | null
  headers: Record<string, string> | null
}

export interface ClaimOptions {
  /** Each with how many of its deliveries may be taken. */
  lanes: readonly (Lane & { room: number })[]
  room: number
  token: string
  leaseSeconds: number
}

/**
 * Takes deliveries that are due: first attempts before repeated ones, as many of each lane as it has room for. One that
 * another worker has just taken is passed over.
 */
export const claimDeliveries = (db: Db, { lanes, room, token, leaseSeconds }: ClaimOptions) =>
  db.rows<ClaimedRow>(sql`-- all orgs: workers serve everybody
    with lanes as (
      select l.webhook_id, l.room
      from unnest(${lanes.map((lane) => lane.orgId)}::uuid[], ${lanes.map((lane) => lane.webhookId)}::uuid[],
        ${lanes.map((lane) => lane.room)}::int[]) as l (org_id, webhook_id, room)
      where (select w.status from webhooks w where w.org_id = l.org_id and w.id = l.webhook_id) = 'active'
    ), candidates as (
      select c.number
      from lanes l cross join lateral (
        (select q.number, q.retried, q.due_at from webhook_queue q
          where q.webhook_id = l.webhook_id and not q.retried and q.due_at <= now() order by q.due_at limit l.room)
        union all
        (select q.number, q.retried, q.due_at from webhook_queue q
          where q.webhook_id = l.webhook_id and q.retried and q.due_at <= now() order by q.due_at limit l.room)
        order by retried, due_at limit l.room) c
      order by c.retried, c.due_at limit ${room}
    ), locked as (
      select q.number from webhook_queue q
      where q.number = any(array(select number from candidates))
        -- Still, once it is locked. So written, because no index may think that it could help.
        and (q.due_at <= now()) is true
      for update skip locked
    ), claimed as (
      update webhook_queue q set lease_token = ${token}, due_at = now() + ${leaseSeconds} * interval '1 second'
      where q.number = any(array(select number from locked))
      returning q.*
    )
    select c.org_id, c.id, c.number, c.webhook_id, c.event_id, c.event_type, c.attempt_count, c.manual,
      c.lease_token as token, w.url, w.source, w.secret, e.body, e.content_type, e.headers
    from claimed c
      cross join lateral (
        select url, source, secret from webhooks w where w.org_id = c.org_id and w.id = c.webhook_id limit 1) w
      left join lateral (
        -- With all columns of either index: this minute's partition may be new to the planner as well.
        select body, content_type, headers from webhook_events e
        where e.org_id = c.org_id and e.webhook_id = c.webhook_id and e.id = c.event_id limit 1) e on true`)

/** How an attempt ended. */
export interface Outcome {
  orgId: string
  number: bigint
  webhookId: string
  token: string
  /** retry: after `delaySeconds`. released: nothing was tried, and the next worker may. */
  kind: 'succeeded' | 'failed' | 'retry' | 'released'
  delaySeconds: number
  /** One JSON object, or null when nothing was tried. */
  attempt: string | null
  url: string | null
  response: string | null
  error: string | null
  /** The receiver said that it is gone for good. */
  gone: boolean
  /** How long the attempt took; it is not stored here. */
  durationMs: number
}

/**
 * Writes down how attempts ended, all in one statement: those that came to their end move to the history, the others
 * wait, each webhook counts. A row whose lease went to another worker is left alone. A webhook whose receiver is gone,
 * or from which nothing but failures came for five days, is disabled, and the audit log says so.
 */
export const settleDeliveries = (db: Db, outcomes: readonly Outcome[]) => {
  const column = <Key extends keyof Outcome>(key: Key): Outcome[Key][] => outcomes.map((outcome) => outcome[key])
  return db.rows<{ id: string }>(sql`-- all orgs: workers serve everybody
    with given as (
      select * from unnest(${column('number')}::bigint[], ${column('token')}::uuid[], ${column('kind')}::text[],
          ${column('delaySeconds')}::float8[], ${column('attempt')}::text[], ${column('url')}::text[],
          ${column('response')}::text[], ${column('error')}::text[], ${column('gone')}::boolean[])
        as g (number, token, kind, delay_seconds, attempt, url, response, error, gone)
    ), ended as (
      delete from webhook_queue q using given g
      where q.number = any(${column('number')}::bigint[])
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
      set lease_token = null, updated_at = now(), due_at = now() + g.delay_seconds * interval '1 second',
        attempt_count = q.attempt_count + (g.attempt is not null)::int, retried = q.retried or g.attempt is not null,
        manual = q.manual and g.attempt is null,
        attempts = case when g.attempt is null then q.attempts else q.attempts || g.attempt::jsonb end,
        response = case when g.attempt is null then q.response else g.response::jsonb end,
        error = case when g.attempt is null then q.error else g.error end
      from given g
      where q.number = any(${column('number')}::bigint[])
        and q.number = g.number and q.lease_token = g.token and g.kind in ('retry', 'released')
      returning q.org_id, q.id, q.number, q.webhook_id, q.attempt_count
    ), settled as (
      select org_id, id, number, webhook_id, attempt_count + 1 as attempt_count from ended
      union all select org_id, id, number, webhook_id, attempt_count from waiting
    ), counts as (
      select s.org_id, s.webhook_id, count(*) filter (where s.attempt_count = 1) as first_attempts,
        bool_or(g.kind = 'succeeded') as succeeded, bool_or(g.gone) as gone
      from settled s join given g on g.number = s.number
      where g.attempt is not null
      group by s.org_id, s.webhook_id
    ), webhooks_in_order as (
      select w.org_id, w.id, w.status, w.failing_since
      from webhooks w join counts c on c.org_id = w.org_id and c.webhook_id = w.id
      order by w.org_id, w.id
      for no key update of w
    ), counted as (
      update webhooks w
      set delivery_count = w.delivery_count + c.first_attempts, last_delivery_at = now(),
        failing_since = case when not c.succeeded then coalesce(w.failing_since, now()) end,
        status = case when off.reason is not null then 'disabled' else w.status end,
        status_reason = coalesce(off.reason, w.status_reason),
        revision = w.revision + (off.reason is not null)::int,
        updated_at = case when off.reason is not null then now() else w.updated_at end
      from webhooks_in_order o
        join counts c on c.org_id = o.org_id and c.webhook_id = o.id
        cross join lateral (select case
          when o.status = 'disabled' then null
          when c.gone then 'Its receiver answered 410 Gone.'
          when c.succeeded then null
          when o.failing_since < now() - interval '5 days'
          then 'Nothing but failures came from its receiver for five days.' end as reason) off
      where w.org_id = o.org_id and w.id = o.id
      returning w.org_id, w.id, w.name, off.reason
    ), told as (
      insert into audit_log (org_id, id, actor_name, action, resource_type, resource_id, details)
      select org_id, gen_random_uuid(), 'Deliveries', 'webhook.disabled', 'webhook', id,
        jsonb_build_object('name', name, 'reason', reason)
      from counted where reason is not null
    )
    select id from settled`)
}

/** The state of the queue for operators: deliveries that should have begun, and for how long the oldest has waited. */
export const findDeliveryBacklog = async (db: Db): Promise<{ due: number; oldestSeconds: number }> => {
  const row = await db.row<{ due: number; oldestSeconds: number }>(sql`-- all orgs: what operators ask
    select count(*)::int as due, coalesce(max(extract(epoch from now() - q.due_at)), 0)::float8 as oldest_seconds
    from webhook_queue q join webhooks w on w.org_id = q.org_id and w.id = q.webhook_id and w.status = 'active'
    where q.due_at <= now()`)
  return row ?? { due: 0, oldestSeconds: 0 }
}
