import type { ChainColumns } from '../../../outbox/chain.ts'
import { sql } from '../../../platform/database/database.ts'
import type { Db } from '../../../platform/database/database.ts'
import { isNear } from '../../../sessions/message-queries.ts'
import type { MessagePart } from '../../../sessions/schemas.ts'
import { needsOf } from '../queries.ts'
import type { Details, TaskTurn } from '../tasks.ts'

export type PushRevision = '0.3' | '1.0'

/** A configuration as its task names it. */
export interface PushConfigRow {
  id: string
  turnId: string
  name: string
  url: string
  scheme: string | null
}

export interface NewPushConfig extends PushConfigRow {
  workspaceId: string
  sealed: string
  revision: PushRevision
  userId: string
  apiKeyId: string | null
  scopes: readonly string[]
  isEnded: boolean
}

/** The state of a turn, when it reached it, and the chain of its events. */
interface LockedTurn extends ChainColumns {
  status: Details['turn']['status']
  changedAt: string
}

/** Locks a turn, so that it cannot change its state before the end of the transaction. */
export const lockTurn = (db: Db, orgId: string, turnId: string) =>
  db.row<LockedTurn>(sql`
    select status, coalesce(ended_at, claimed_at, created_at) as changed_at, event_chain_id, event_depth from turns where org_id = ${orgId} and id = ${turnId} for no key update`)

const columns = sql`id, turn_id, name, url, scheme`

/** In the order of their creation. */
export const listConfigs = (db: Db, orgId: string, turnId: string) =>
  db.rows<PushConfigRow>(sql`
    select ${columns} from task_push_configs where org_id = ${orgId} and turn_id = ${turnId} order by created_at, id`)

/** Counts the configurations of tasks that have not ended, up to `most`. */
export const countOpen = async (db: Db, orgId: string, most: number): Promise<number> => {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select id from task_push_configs where org_id = ${orgId} and ended_at is null limit ${most}) as counted`)
  return row?.count ?? 0
}

export const insertConfig = (db: Db, orgId: string, config: NewPushConfig) =>
  db.execute(sql`
    insert into task_push_configs (org_id, id, turn_id, name, workspace_id, url, secret, scheme, revision,
      user_id, api_key_id, scopes, ended_at)
    select ${orgId}::uuid, ${config.id}::uuid, ${config.turnId}::uuid, ${config.name}, ${config.workspaceId}::uuid,
      ${config.url}, ${config.sealed}, ${config.scheme}, ${config.revision},
      ${config.userId}::uuid, ${config.apiKeyId}::uuid, ${config.scopes}::text[],
      case when ${config.isEnded}::boolean then now() end`)

/** Returns the id of the deleted configuration. */
export const deleteConfig = (db: Db, orgId: string, turnId: string, name: string) =>
  db.row<{ id: string }>(sql`
    delete from task_push_configs where org_id = ${orgId} and turn_id = ${turnId} and name = ${name} returning id`)

/** Deletes the notifications of a deleted configuration that wait for an attempt. */
export const deleteQueued = (db: Db, orgId: string, id: string) =>
  db.execute(sql`delete from webhook_queue where org_id = ${orgId} and webhook_id = ${id}`)

/** The configurations of these turns. */
export const listOfTurns = (db: Db, orgId: string, turnIds: readonly string[]) =>
  db.rows<{ id: string; turnId: string }>(sql`
    select id, turn_id from task_push_configs
    where org_id = ${orgId} and turn_id = any(${turnIds}::uuid[]) order by turn_id, name`)

export interface NewNotification {
  id: string
  configId: string
  eventId: string
  eventType: string
}

/** Queues notifications of one org. */
export const queueNotifications = (db: Db, orgId: string, notifications: readonly NewNotification[]) => {
  const column = (key: keyof NewNotification): string[] => notifications.map((one) => one[key])
  return db.execute(sql`
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, due_at)
    select ${orgId}::uuid, g.id, g.webhook_id, g.event_id, g.event_type, now()
    from unnest(${column('id')}::uuid[], ${column('configId')}::uuid[], ${column('eventId')}::uuid[],
      ${column('eventType')}::text[]) as g (id, webhook_id, event_id, event_type)`)
}

export const markEnded = (db: Db, orgId: string, turnIds: readonly string[]) =>
  db.execute(sql`
    update task_push_configs set ended_at = now()
    where org_id = ${orgId} and turn_id = any(${turnIds}::uuid[]) and ended_at is null`)

/** What a notification is made from. */
export interface PushTarget {
  turnId: string
  workspaceId: string
  revision: PushRevision
}

export const findTarget = (db: Db, orgId: string, id: string) =>
  db.row<PushTarget>(sql`
    select turn_id, workspace_id, revision from task_push_configs where org_id = ${orgId} and id = ${id}`)

export interface NotifiedTurn extends TaskTurn {
  userId: string
  /** Null when the turn has no reply or has not ended. */
  reply: MessagePart[] | null
}

/**
 * What a notification shows of a turn; undefined when the turn or its session was deleted. Without the model and tool calls
 * of the turn, because a worker prepares hundreds of notifications at the same time.
 */
export const findNotifiedTurn = (db: Db, orgId: string, { turnId, workspaceId }: PushTarget) =>
  db.row<NotifiedTurn>(sql`
    select t.id, t.session_id, t.number, t.user_id, t.status, t.stop_reason, t.error, t.created_at, t.claimed_at,
      t.ended_at, ${needsOf(orgId)}, (
        select m.parts from messages m
        where m.org_id = ${orgId} and m.id = t.reply_id and t.ended_at is not null
          and ${isNear(sql`m.id`, turnId)}) as reply
    from turns t
      join sessions s on s.org_id = t.org_id and s.id = t.session_id
    where t.org_id = ${orgId} and t.id = ${turnId} and s.workspace_id = ${workspaceId} and s.deleted_at is null`)

/** Deletes up to `limit` configurations of tasks that ended, or that were set, so many days ago. */
export const deleteOld = (db: Db, { endedDays, days, limit }: { endedDays: number; days: number; limit: number }) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    delete from task_push_configs where (org_id, id) in (
      select org_id, id from task_push_configs
      where ended_at < now() - ${endedDays} * interval '1 day' or created_at < now() - ${days} * interval '1 day'
      limit ${limit})`)
