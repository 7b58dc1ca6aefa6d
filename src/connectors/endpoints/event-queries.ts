import { insertOutboxOf } from '../../outbox/queries.ts'
import type { ConditionalOutboxRow } from '../../outbox/queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { pageBound } from '../../platform/database/partitions.ts'

export type EventState = 'recorded' | 'waiting' | 'running' | 'answered' | 'silent' | 'failed' | 'unknown'

/** A verified event before it is stored. */
export interface NewConnectorEvent {
  orgId: string
  endpointId: string
  externalId: string
  secondId: string | null
  type: string
  state: 'recorded' | 'waiting'
  chat: string | null
  position: bigint | null
  sender: string | null
  title: string | null
  message: string | null
  replyTo: string | null
  /** The event that reports it. Its key is `externalId`. */
  received: ConditionalOutboxRow
}

/** The chain of its turn is that of the event that reports it. */
const chainOf = ({ received: { chainId, depth } }: NewConnectorEvent) => ({
  eventChainId: chainId,
  eventDepth: chainId === null ? null : depth,
})

export interface EventKey {
  orgId: string
  endpointId: string
  externalId: string
}

/**
 * Stores the events of one endpoint whose keys are new, in their order, and returns their keys. The keys are in a table of
 * their own, because a unique index cannot span the months of the events.
 */
export const insertEvents = (
  db: Db,
  { orgId, endpointId }: Pick<EventKey, 'orgId' | 'endpointId'>,
  events: NewConnectorEvent[],
) => {
  const chains = events.map(chainOf)
  return db.rows<EventKey>(sql`
    with given as (
      select * from unnest(${events.map((one) => one.externalId)}::text[], ${events.map((one) => one.secondId)}::text[],
        ${events.map((one) => one.type)}::text[], ${events.map((one) => one.state)}::text[],
        ${events.map((one) => one.chat)}::text[], ${events.map((one) => one.position?.toString() ?? null)}::bigint[],
        ${events.map((one) => one.sender)}::text[], ${events.map((one) => one.title)}::text[],
        ${events.map((one) => one.message)}::text[], ${events.map((one) => one.replyTo)}::text[], ${chains.map((one) => one.eventChainId)}::uuid[],
        ${chains.map((one) => one.eventDepth)}::smallint[]) with ordinality
        as given (external_id, second_id, type, state, chat, position, sender, title, message, reply_to, event_chain_id,
          event_depth, place)
    ), first_given as (
      select distinct on (external_id) * from given order by external_id, place
    ), keyed as (
      insert into connector_event_keys (org_id, endpoint_id, key, is_second)
      select ${orgId}::uuid, ${endpointId}::uuid, external_id, false from first_given
      -- Not with EXISTS: the planner may answer that from a hash table of all keys of the endpoint.
      where (select k.seen_at from connector_event_keys k
        where k.org_id = ${orgId} and k.endpoint_id = ${endpointId} and k.key = second_id and k.is_second) is null
      on conflict do nothing
      returning key
    ), second_keyed as (
      insert into connector_event_keys (org_id, endpoint_id, key, is_second)
      select distinct ${orgId}::uuid, ${endpointId}::uuid, g.second_id, true
      from first_given g join keyed on keyed.key = g.external_id
      where g.second_id is not null
      on conflict do nothing
      returning key
    ), fresh as (
      select distinct on (coalesce(g.second_id, g.external_id), g.second_id is null) g.*
      from first_given g join keyed on keyed.key = g.external_id
      where g.second_id is null or g.second_id in (select key from second_keyed)
      order by coalesce(g.second_id, g.external_id), g.second_id is null, g.place
    ), reported as (
      ${insertOutboxOf(
        events.map(({ received }) => received),
        sql`select external_id from fresh`,
      )}
    )
    insert into connector_events (org_id, endpoint_id, external_id, type, state, chat, position, sender, title, message,
      reply_to, event_chain_id, event_depth, is_keyed)
    select ${orgId}::uuid, ${endpointId}::uuid, external_id, type, state, chat, position, sender, title, message, reply_to,
      event_chain_id, event_depth, true
    from fresh order by place
    returning org_id, endpoint_id, external_id`)
}

/** Deletes the second keys of these events that were stored more than 24 h ago. Returns whether there were any. */
export const releaseSecondIds = async (
  db: Db,
  { orgId, endpointId }: Pick<EventKey, 'orgId' | 'endpointId'>,
  events: NewConnectorEvent[],
): Promise<boolean> => {
  const secondIds = events.map(({ secondId }) => secondId).filter((id) => id !== null)
  if (secondIds.length === 0) return false
  const released = await db.execute(sql`
    delete from connector_event_keys
    where org_id = ${orgId} and endpoint_id = ${endpointId} and is_second and key = any(${secondIds}::text[])
      and seen_at < now() - interval '24 hours'`)
  return released > 0
}

export interface ListedEvent {
  externalId: string
  type: string
  state: EventState
  sender: string | null
  turnId: string | null
  error: string | null
  seq: bigint
  receivedAt: string
}

/** The events of the last `days` days, newest first, with sequence numbers below `before`. */
export const listEvents = (
  db: Db,
  { orgId, endpointId }: Pick<EventKey, 'orgId' | 'endpointId'>,
  { limit, days, before = Number.MAX_SAFE_INTEGER }: { limit: number; days: number; before: number | undefined },
) =>
  db.rows<ListedEvent>(sql`
    select * from (
      select external_id, type, state, sender, turn_id, error, seq, received_at from connector_events
      where org_id = ${orgId} and endpoint_id = ${endpointId} and seq < ${before}
        and received_at > now() - ${days} * interval '1 day'
      order by seq desc ${pageBound}
    ) bounded order by seq desc limit ${limit}`)

/** Deletes up to `limit` keys of events that are older than `days` days. */
export const expireKeys = (db: Db, days: number, limit: number) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    delete from connector_event_keys where (org_id, endpoint_id, key, is_second) in (
      select org_id, endpoint_id, key, is_second from connector_event_keys
      where seen_at < now() - ${days} * interval '1 day' limit ${limit})`)
