import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** The queue of a subscription for one subject. */
export interface QueueKey {
  orgId: string
  subscription: string
  subjectType: string
  subjectId: string
}

/** An event in the queue of a subscription. */
export interface QueuedEvent extends QueueKey {
  /** The number of the event among those of its subject. */
  sequence: number
  eventId: string
}

export interface NewQueuedEvent extends QueuedEvent {
  /** Whether an earlier event of the subject has to end first. */
  waits: boolean
}

const columns = sql`org_id, subscription, subject_type, subject_id, sequence::float8 as sequence, event_id`

/** The keys, of one org, in whose queue there is an event. The order makes the planner use the primary key. */
export const listBusyKeys = (db: Db, orgId: string, keys: readonly QueueKey[]) =>
  db.rows<QueueKey>(sql`
    select ${orgId}::uuid as org_id, k.subscription, k.subject_type, k.subject_id
    from unnest(${keys.map((key) => key.subscription)}::text[], ${keys.map((key) => key.subjectType)}::text[],
        ${keys.map((key) => key.subjectId)}::uuid[]) as k (subscription, subject_type, subject_id)
      cross join lateral (
        select q.sequence from subscription_queue q
        where q.org_id = ${orgId} and q.subscription = k.subscription and q.subject_type = k.subject_type
          and q.subject_id = k.subject_id
        order by q.sequence limit 1) as found`)

export interface QueueSize {
  subscription: string
  /** At most the limit of the question. */
  count: number
}

/**
 * How many events of one org are queued for each of the subscriptions. Counts to `limit`, which bounds the time. The order
 * makes the planner use the primary key.
 */
export const countQueued = (db: Db, orgId: string, subscriptions: readonly string[], limit: number) =>
  db.rows<QueueSize>(sql`
    select s.subscription, found.count
    from unnest(${subscriptions}::text[]) as s (subscription)
      cross join lateral (
        select count(*)::int as count from (
          select q.sequence from subscription_queue q
          where q.org_id = ${orgId} and q.subscription = s.subscription
          order by q.subject_type, q.subject_id, q.sequence limit ${limit}) as counted) as found`)

/** Queues events of one org. */
export const insertQueued = (db: Db, orgId: string, events: readonly NewQueuedEvent[]) => {
  const column = <Key extends keyof NewQueuedEvent>(key: Key): NewQueuedEvent[Key][] => events.map((one) => one[key])
  return db.execute(sql`
    insert into subscription_queue (org_id, subscription, subject_type, subject_id, sequence, event_id, enqueued_at)
    select ${orgId}::uuid, g.subscription, g.subject_type, g.subject_id, g.sequence, g.event_id,
      case when not g.waits then now() end
    from unnest(${column('subscription')}::text[], ${column('subjectType')}::text[], ${column('subjectId')}::uuid[],
      ${column('sequence')}::bigint[], ${column('eventId')}::uuid[], ${column('waits')}::boolean[])
      as g (subscription, subject_type, subject_id, sequence, event_id, waits)`)
}

export const isQueued = async (db: Db, event: QueuedEvent): Promise<boolean> => {
  const row = await db.row(sql`
    select from subscription_queue
    where org_id = ${event.orgId} and subscription = ${event.subscription} and subject_type = ${event.subjectType}
      and subject_id = ${event.subjectId} and sequence = ${event.sequence}`)
  return row !== undefined
}

/** Locks a subject until the end of the transaction. Publishing an event of the subject locks it, too. */
export const lockSubject = (db: Db, { orgId, subjectType, subjectId }: QueueKey) =>
  db.row(sql`
    select sequence from event_subjects
    where org_id = ${orgId} and type = ${subjectType} and id = ${subjectId} for no key update`)

/** Returns whether the event was still queued. */
export const deleteQueued = async (db: Db, event: QueuedEvent): Promise<boolean> => {
  const deleted = await db.execute(sql`
    delete from subscription_queue
    where org_id = ${event.orgId} and subscription = ${event.subscription} and subject_type = ${event.subjectType}
      and subject_id = ${event.subjectId} and sequence = ${event.sequence}`)
  return deleted > 0
}

/** Marks the first event of a queue as enqueued. Undefined when the queue is empty. */
export const takeNext = (db: Db, { orgId, subscription, subjectType, subjectId }: QueueKey) =>
  db.row<QueuedEvent>(sql`
    update subscription_queue set enqueued_at = now()
    where org_id = ${orgId} and subscription = ${subscription} and subject_type = ${subjectType}
      and subject_id = ${subjectId} and enqueued_at is null and sequence = (
        select q.sequence from subscription_queue q
        where q.org_id = ${orgId} and q.subscription = ${subscription} and q.subject_type = ${subjectType}
          and q.subject_id = ${subjectId}
        order by q.sequence limit 1)
    returning ${columns}`)

export interface EnqueuedEvent extends QueuedEvent {
  /** Exact to the microsecond. */
  enqueuedAt: string
}

/** Events of a subscription that were enqueued at least `minSeconds` ago, oldest first, after `after`. */
export const listEnqueued = (
  db: Db,
  subscription: string,
  { minSeconds, after, limit }: { minSeconds: number; after: EnqueuedEvent | undefined; limit: number },
) =>
  db.rows<EnqueuedEvent>(sql`
    -- all orgs: workers serve all orgs
    select ${columns}, enqueued_at::text as enqueued_at from subscription_queue
    where subscription = ${subscription} and enqueued_at < now() - ${minSeconds} * interval '1 second'
      and (enqueued_at, event_id) > (${after?.enqueuedAt ?? '-infinity'}::timestamptz,
        ${after?.eventId ?? '00000000-0000-0000-0000-000000000000'}::uuid)
    order by enqueued_at, event_id
    limit ${limit}`)
