import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

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
}

export interface EventKey {
  orgId: string
  endpointId: string
  externalId: string
}

/** Stores the new events in their order and returns their keys. */
export const insertEvents = (db: Db, events: NewConnectorEvent[]) =>
  db.rows<EventKey>(sql`
    insert into connector_events (org_id, endpoint_id, external_id, second_id, type, state, chat, position, sender, title, message,
      reply_to)
    select * from unnest(${events.map((one) => one.orgId)}::uuid[], ${events.map((one) => one.endpointId)}::uuid[],
      ${events.map((one) => one.externalId)}::text[], ${events.map((one) => one.secondId)}::text[],
      ${events.map((one) => one.type)}::text[], ${events.map((one) => one.state)}::text[],
      ${events.map((one) => one.chat)}::text[], ${events.map((one) => one.position?.toString() ?? null)}::bigint[],
      ${events.map((one) => one.sender)}::text[], ${events.map((one) => one.title)}::text[],
      ${events.map((one) => one.message)}::text[],
      ${events.map((one) => one.replyTo)}::text[])
    on conflict do nothing
    returning org_id, endpoint_id, external_id`)

/** Releases the second ids of these events that were stored more than 24 h ago. Returns whether there were any. */
export const releaseSecondIds = async (db: Db, events: NewConnectorEvent[]): Promise<boolean> => {
  const withSecondId = events.filter(({ secondId }) => secondId !== null)
  if (withSecondId.length === 0) return false
  const released = await db.execute(sql`
    update connector_events set second_id = null
    from unnest(${withSecondId.map((one) => one.orgId)}::uuid[], ${withSecondId.map((one) => one.endpointId)}::uuid[],
      ${withSecondId.map((one) => one.secondId)}::text[]) as given (org_id, endpoint_id, second_id)
    where connector_events.org_id = given.org_id and connector_events.endpoint_id = given.endpoint_id
      and connector_events.second_id = given.second_id and received_at < now() - interval '24 hours'`)
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

/** Newest first, with sequence numbers below `before`. */
export const listEvents = (
  db: Db,
  { orgId, endpointId }: Pick<EventKey, 'orgId' | 'endpointId'>,
  { limit, before = Number.MAX_SAFE_INTEGER }: { limit: number; before: number | undefined },
) =>
  db.rows<ListedEvent>(sql`
    select external_id, type, state, sender, turn_id, error, seq, received_at from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and seq < ${before}
    order by seq desc
    limit ${limit}`)

/** Deletes up to `limit` events of more than 8 days: Pub/Sub, the most persistent provider, retries for 7 days. */
export const expireEvents = (db: Db, limit: number) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    delete from connector_events where (org_id, endpoint_id, external_id) in (
      select org_id, endpoint_id, external_id from connector_events
      where received_at < now() - interval '8 days' limit ${limit})`)
