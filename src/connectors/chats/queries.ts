import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'
import type { EventKey, EventState } from '../endpoints/event-queries.ts'

/** A conversation at the provider. */
export interface ChatKey {
  orgId: string
  endpointId: string
  chat: string
}

/** Makes the chat, if it is a new one. It goes on in the session that it had by an earlier endpoint of the connection. */
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

/** Holds the chat, so that its messages are given to the agent one after another. */
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
    where org_id = ${orgId} and endpoint_id = ${endpointId} and external_id = ${externalId}`)

/** The next message that the agent has not heard. The chat must be locked. */
export const findWaiting = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.row<{ externalId: string; sender: string | null; title: string | null; message: string | null }>(sql`
    select external_id, sender, title, message from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat} and state = 'waiting'
    order by position nulls first, seq
    limit 1`)

/**
 * The message is in the session now, or will never be: then `error` says why. Either way it has its place among the
 * answers. The chat must be locked.
 */
export const beginAnswer = (
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

/** Whose answer a turn is. */
export const findChatOfTurn = (db: Db, orgId: string, turnId: string) =>
  db.row<ChatKey>(sql`
    select org_id, endpoint_id, chat from connector_events where org_id = ${orgId} and turn_id = ${turnId}`)

export const leasedChat = ({ orgId, endpointId, chat }: ChatKey): LeasedRow => ({
  table: sql`connector_chats`,
  row: sql`org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat}`,
})

export interface OpenAnswer {
  externalId: string
  turnId: string | null
  replyTo: string | null
  partsSent: number
  isSending: boolean
  sendAttempts: number
  /** Until the provider may be tried again. */
  waitSeconds: number
  error: string | null
}

/** The first message of the chat that is not answered to the end. */
export const findOpenAnswer = (db: Db, { orgId, endpointId, chat }: ChatKey) =>
  db.row<OpenAnswer>(sql`
    select external_id, turn_id, reply_to, parts_sent, is_sending, send_attempts, error,
      greatest(0, extract(epoch from coalesce(send_after, now()) - clock_timestamp()))::float8 as wait_seconds
    from connector_events
    where org_id = ${orgId} and endpoint_id = ${endpointId} and chat = ${chat} and state = 'running'
    order by place
    limit 1`)

export interface AnswerChange {
  isSending: boolean
  partsSent: number
  sendAttempts: number
  /** It has to wait for so long. */
  waitSeconds?: number
  /** Undefined: it goes on. */
  end?: { state: 'answered' | 'silent' | 'failed' | 'unknown'; error: string | null }
}

/** Writes how far an answer is, under the lease on its chat. False, and nothing is written, when that is gone. */
export const changeAnswer = async (
  db: Db,
  { orgId, endpointId, chat }: ChatKey,
  externalId: string,
  token: string,
  { isSending, partsSent, sendAttempts, waitSeconds = 0, end }: AnswerChange,
): Promise<boolean> => {
  const state = end?.state ?? 'running'
  const changed = await db.execute(sql`
    update connector_events
    set is_sending = ${isSending}, parts_sent = ${partsSent}, send_attempts = ${sendAttempts}, state = ${state},
      send_after = clock_timestamp() + make_interval(secs => ${waitSeconds}),
      error = case when ${end !== undefined} then ${end?.error ?? null} else error end,
      reply_to = case when ${end !== undefined} then null else reply_to end
    where org_id = ${orgId} and endpoint_id = ${endpointId} and external_id = ${externalId} and state = 'running'
      and exists (
        select from connector_chats c
        where c.org_id = ${orgId} and c.endpoint_id = ${endpointId} and c.chat = ${chat} and c.lease_token = ${token})`)
  return changed > 0
}
