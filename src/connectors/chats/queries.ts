import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'
import type { ChainColumns } from '../../outbox/chain.ts'
import type { EventKey, EventState } from '../endpoints/event-queries.ts'

/** A conversation at the provider: a channel, thread or direct message. */
export interface ChatKey {
  orgId: string
  endpointId: string
  chat: string
}

/** Inserts a new chat. It continues the session that it had through an earlier, closed endpoint of the connection. */
export const insertChat = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.execute(sql`
    insert into connector_chats (org_id, endpoint_id, chat, session_id)
    select ${orgId}::uuid, ${endpointId}::uuid, ${chat}, (
      select c.session_id from connector_endpoints mine
        join connector_endpoints e on e.org_id = mine.org_id and e.connection_id = mine.connection_id
        join connector_chats c on c.org_id = e.org_id and c.endpoint_id = e.id and c.chat = ${chat}
      where mine.org_id = ${orgId} and mine.id = ${endpointId} and e.status = 'closed' and c.session_id is not null
      order by e.created_at desc limit 1)
    on conflict do nothing`)

/** Locks the chat, so that its messages become turns one after another. */
export const lockChat = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.row<{ sessionId: string | null; place: number }>(sql`
    select session_id, place from connector_chats
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}
    for no key update`)

export const chatExists = async (db: Db, { orgId, endpointId, chat }: ChatKey): Promise<boolean> =>
  (await db.row(sql`
    select from connector_chats where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}`)) !==
  undefined

export const setSession = (db: Db, { orgId, endpointId, chat }: ChatKey, sessionId: string) =>
  db.execute(sql`
    update connector_chats set session_id = ${sessionId}
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}`)

export const findEvent = (db: Db, { orgId, endpointId, externalId }: EventKey) =>
  db.row<{ state: EventState; chat: string | null }>(sql`
    select state, chat from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and external_id = ${externalId}
    -- Without a key any more, an earlier event with the same id is another one.
    order by received_at desc limit 1`)

/** The next message without a turn. The chat must be locked. */
export const findWaiting = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.row<
    ChainColumns & { externalId: string; sender: string | null; title: string | null; message: string | null }
  >(sql`
    select external_id, sender, title, message, event_chain_id, event_depth from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat} and state = 'waiting'
    order by position nulls first, seq
    limit 1`)

/**
 * Assigns a turn to the message, or the error that prevents one, and its place in the order of replies. The chat must be
 * locked.
 */
export const startReply = (
  db: Db,
  { orgId, endpointId, chat }: ChatKey,
  externalId: string,
  { turnId, error }: { turnId: string | null; error: string | null },
) =>
  db.execute(sql`
    with counted as (
      update connector_chats set place = place + 1
      where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}
      returning place
    )
    update connector_events set state = 'running', turn_id = ${turnId}, error = ${error}, message = null,
      place = counted.place
    from counted
    where org_id = ${orgId} and endpoint_id = ${endpointId} and external_id = ${externalId} and state = 'waiting'`)

/** The chat that a turn replies to. */
export const findChatOfTurn = (db: Db, orgId: string, turnId: string) =>
  db.row<ChatKey>(sql`
    select org_id, endpoint_id, chat from connector_events where org_id = ${orgId} and turn_id = ${turnId}`)

export const leasedChat = ({ orgId, endpointId, chat }: ChatKey): LeasedRow => ({
  table: sql`connector_chats`,
  row: sql`org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}`,
})

/** A reply that has not been sent completely. */
export interface PendingReply {
  externalId: string
  turnId: string | null
  replyTo: string | null
  partsSent: number
  isSending: boolean
  sendAttempts: number
  /** Seconds until the next attempt. */
  waitSeconds: number
  error: string | null
}

/** The first reply of the chat that has not been sent completely. */
export const findPendingReply = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.row<PendingReply>(sql`
    select external_id, turn_id, reply_to, parts_sent, is_sending, send_attempts, error,
      greatest(0, extract(epoch from coalesce(send_after, now()) - statement_timestamp()))::float8 as wait_seconds
    from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat} and state = 'running'
    order by place
    limit 1`)

export interface ReplyUpdate {
  isSending: boolean
  partsSent: number
  sendAttempts: number
  /** Seconds until the next attempt. Default: 0. */
  waitSeconds?: number
  /** Undefined: the reply is not complete. */
  end?: { state: 'answered' | 'silent' | 'failed' | 'unknown'; error: string | null }
}

/** Stores the progress of a reply under the lease of its chat. False, and no change, when the lease is lost. */
export const updateReply = async (
  db: Db,
  { orgId, endpointId, chat }: ChatKey,
  { externalId, leaseToken }: { externalId: string; leaseToken: string },
  { isSending, partsSent, sendAttempts, waitSeconds = 0, end }: ReplyUpdate,
): Promise<boolean> => {
  const state = end?.state ?? 'running'
  const changed = await db.execute(sql`
    update connector_events
    set is_sending = ${isSending}, parts_sent = ${partsSent}, send_attempts = ${sendAttempts}, state = ${state},
      send_after = statement_timestamp() + make_interval(secs => ${waitSeconds}),
      error = case when ${end !== undefined} then ${end?.error ?? null} else error end,
      reply_to = case when ${end !== undefined} then null else reply_to end
    where org_id = ${orgId} and endpoint_id = ${endpointId} and external_id = ${externalId} and state = 'running'
      and exists (
        select from connector_chats c
        where c.org_id = ${orgId} and c.endpoint_id = ${endpointId} and c.chat = ${chat} and c.lease_token = ${leaseToken})`)
  return changed > 0
}
