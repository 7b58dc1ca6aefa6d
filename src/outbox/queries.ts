import { empty, sql } from '../platform/database/database.ts'
import type { Db, Sql } from '../platform/database/database.ts'

/** Who caused an event, as readers see it. */
export type EventActor =
  | { type: 'user'; id: string; name: string; apiKeyId: string | null }
  | { type: 'system'; id: null; name: string; apiKeyId: null }

export interface OutboxRow {
  orgId: string
  id: string
  type: string
  /** The version of the type when the event is recorded. */
  version: number
  workspaceId: string | null
  /** JSON of an `EventActor`. */
  actor: string
  subjectType: string
  subjectId: string
  /** The person to whom the subject belongs. */
  ownerId: string | null
  /** JSON. */
  data: string
  chainId: string | null
  depth: number
}

export type OutboxTemplate = Omit<OutboxRow, 'workspaceId' | 'subjectId' | 'ownerId' | 'data'>

export const outboxColumns = sql`
  org_id, id, type, version, workspace_id, actor, subject_type, subject_id, data, chain_id, depth, owner_id`

/** Inserts one event, as a part of a statement. `from` is the condition, as below. */
export const insertOutboxRow = (row: OutboxRow, from: Sql = empty): Sql =>
  sql`insert into event_outbox (${outboxColumns})
    select ${row.orgId}::uuid, ${row.id}::uuid, ${row.type}, ${row.version}::smallint, ${row.workspaceId}::uuid, ${row.actor}::jsonb,
      ${row.subjectType}, ${row.subjectId}::uuid, ${row.data}::jsonb, ${row.chainId}::uuid, ${row.depth}::smallint, ${row.ownerId}::uuid ${from}`

/**
 * Inserts events, as a part of a statement. `from` is the condition: nothing is inserted when it returns no row, such as
 * `from leased`.
 */
export const insertOutbox = (rows: readonly OutboxRow[], from: Sql = empty): Sql => {
  const column = <Key extends keyof OutboxRow>(key: Key): OutboxRow[Key][] => rows.map((row) => row[key])
  const [row] = rows
  // Where tables are distributed, an insert must name its org as a value.
  const isOneOrg = rows.every(({ orgId }) => orgId === row?.orgId)
  if (row !== undefined && rows.length === 1) return insertOutboxRow(row, from)
  return sql`insert into event_outbox (${outboxColumns})
    select ${isOneOrg ? sql`${row?.orgId}::uuid, e.*` : sql`e.*`} from unnest(${isOneOrg ? empty : sql`${column('orgId')}::uuid[],`}${column('id')}::uuid[], ${column('type')}::text[], ${column('version')}::smallint[],
      ${column('workspaceId')}::uuid[], ${column('actor')}::jsonb[], ${column('subjectType')}::text[],
      ${column('subjectId')}::uuid[], ${column('data')}::jsonb[], ${column('chainId')}::uuid[],
      ${column('depth')}::smallint[], ${column('ownerId')}::uuid[]) as e ${from === empty ? empty : sql`where exists (select ${from})`}`
}

/** An event that is recorded only when its change was made, which the statement finds out. */
export interface ConditionalOutboxRow extends OutboxRow {
  /** The key of the change. */
  key: string
}

/**
 * Inserts those events whose key is among `keys`, a query of one text column, in their order and as a part of a statement.
 * The events may be of several orgs.
 */
export const insertOutboxOf = (rows: readonly ConditionalOutboxRow[], keys: Sql): Sql => {
  const column = <Key extends keyof ConditionalOutboxRow>(key: Key): ConditionalOutboxRow[Key][] =>
    rows.map((row) => row[key])
  return sql`insert into event_outbox (${outboxColumns})
    select ${outboxColumns} from unnest(${column('orgId')}::uuid[], ${column('id')}::uuid[], ${column('type')}::text[], ${column('version')}::smallint[],
      ${column('workspaceId')}::uuid[], ${column('actor')}::jsonb[], ${column('subjectType')}::text[],
      ${column('subjectId')}::uuid[], ${column('data')}::jsonb[], ${column('chainId')}::uuid[],
      ${column('depth')}::smallint[], ${column('ownerId')}::uuid[], ${column('key')}::text[]) with ordinality as e (${outboxColumns}, key, place)
    where e.key in (${keys}) order by e.place`
}

/** An event of the log. */
export interface EventRow {
  orgId: string
  id: string
  position: bigint
  type: string
  version: number
  workspaceId: string | null
  actor: EventActor
  subjectType: string
  subjectId: string
  /** The person to whom the subject belongs. */
  ownerId: string | null
  /** The number of the event among those of its subject, from 1. */
  sequence: bigint
  data: Record<string, unknown>
  chainId: string
  depth: number
  occurredAt: string
}

export const eventColumns = sql`
  org_id, id, position, type, version, workspace_id, actor, subject_type, subject_id, owner_id, sequence, data, chain_id, depth, occurred_at`

export const findEvent = (db: Db, orgId: string, id: string) =>
  db.row<EventRow>(sql`select ${eventColumns} from events where org_id = ${orgId} and id = ${id}`)

/** The heads of the logs of these orgs. */
export const listHeads = (db: Db, orgIds: readonly string[]) =>
  db.rows<{ orgId: string; position: bigint }>(sql`
    -- all orgs: a process serves streams of several orgs
    select org_id, position from event_heads where org_id = any(${orgIds}::uuid[])`)

/** Locks the head of an org's log until the end of the transaction. Undefined before the org's first event. */
export const lockHead = (db: Db, orgId: string) =>
  db.row<{ position: bigint }>(sql`select position from event_heads where org_id = ${orgId} for update`)

export const insertHead = (db: Db, orgId: string) =>
  db.execute(sql`insert into event_heads (org_id) values (${orgId}) on conflict do nothing`)

/** Moves up to `limit` events of an org from the outbox to its log, after `position`. The head must be locked. */
export const publishEvents = (db: Db, orgId: string, position: bigint, limit: number) =>
  db.rows<EventRow>(sql`
    with taken as (
      delete from event_outbox o
      where o.org_id = ${orgId} and o.seq = any(array(
        select seq from event_outbox where org_id = ${orgId} order by seq limit ${limit}))
      returning o.*
    ), numbered as (
      select t.*, row_number() over (order by t.seq) as place,
        row_number() over (partition by t.subject_type, t.subject_id order by t.seq) as own_place,
        count(*) over (partition by t.subject_type, t.subject_id) as own_count
      from taken t
    ), counted as (
      insert into event_subjects as s (org_id, type, id, sequence)
      select t.org_id, t.subject_type, t.subject_id, count(*) from taken t
      group by t.org_id, t.subject_type, t.subject_id
      on conflict (org_id, type, id) do update set sequence = s.sequence + excluded.sequence
      returning s.org_id, s.type, s.id, s.sequence
    ), moved as (
      update event_heads h set position = ${position.toString()}::bigint + (select count(*) from taken)
      where h.org_id = ${orgId} and exists (select from taken)
    )
    insert into events (${eventColumns})
    select n.org_id, n.id, ${position.toString()}::bigint + n.place, n.type, n.version, n.workspace_id, n.actor, n.subject_type,
      n.subject_id, n.owner_id, c.sequence - n.own_count + n.own_place, n.data, coalesce(n.chain_id, n.id), n.depth, n.occurred_at
    from numbered n
      join counted c on c.org_id = n.org_id and c.type = n.subject_type and c.id = n.subject_id
    returning ${eventColumns}`)

/** Up to `limit` orgs with ids above `after` whose outbox has events, in ascending order. */
export const listWaitingOrgs = (db: Db, after: string, limit: number) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: workers serve all orgs
    with recursive waiting as (
      (select org_id from event_outbox where org_id > ${after} order by org_id limit 1)
      union all
      select next.org_id from waiting cross join lateral (
        select org_id from event_outbox o where o.org_id > waiting.org_id order by o.org_id limit 1) next
    )
    select org_id from waiting limit ${limit}`)

/** The same where tables are distributed by org: a recursive query cannot span shards. */
export const listWaitingOrgsOfShards = (db: Db, after: string, limit: number) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: workers serve all orgs
    select distinct org_id from event_outbox where org_id > ${after} order by org_id limit ${limit}`)

/**
 * Statements on queues are planned with their values for the rest of the transaction: a kept plan was made when the queue
 * was empty.
 */
export const planAnew = (db: Db) => db.execute(sql`set local plan_cache_mode = force_custom_plan`)
