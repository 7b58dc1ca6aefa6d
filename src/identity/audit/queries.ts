import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Actor, AuditActor, Origin } from '../actor.ts'
import type { Reach } from '../sign-in/reach.ts'

export interface Happening {
  action: string
  resourceType: string
  resourceId: string | null
  details: Record<string, unknown>
}

export const insertEntry = (db: Db, actor: AuditActor, what: Happening) =>
  db.execute(sql`
    insert into audit_log
      (org_id, id, user_id, api_key_id, actor_name, action, resource_type, resource_id, details, ip, request_id)
    values (${actor.orgId}, ${newId()}, ${actor.userId}, ${actor.apiKey?.id ?? null}, ${actor.userName},
      ${what.action}, ${what.resourceType}, ${what.resourceId}, ${JSON.stringify(what.details)},
      ${actor.origin?.ip ?? null}, ${actor.origin?.requestId ?? null})`)

/**
 * One entry in each org of the person within the reach; the id may be the same, as the key begins with the org. By the
 * person, or by whom nobody knows.
 */
export const insertPersonEntries = (
  db: Db,
  userId: string,
  what: Happening,
  origin: Origin | null,
  reach: Reach,
  by: 'person' | 'unknown' = 'person',
) =>
  db.execute(sql`
    insert into audit_log
      (org_id, id, user_id, actor_name, action, resource_type, resource_id, details, ip, request_id)
    select m.org_id, ${newId()}::uuid, ${by === 'person' ? sql`m.user_id, m.name` : sql`null::uuid, 'unknown'`}, ${what.action}, ${what.resourceType}, ${what.resourceId},
      ${JSON.stringify(what.details)}::jsonb, ${origin?.ip ?? null}, ${origin?.requestId ?? null}
    from members m
    where m.user_id = ${userId} and (${reach}::uuid[] is null or m.org_id = any(${reach}::uuid[]))`)

export interface AuditRow {
  id: string
  at: string
  /** `at` with its microseconds, for the cursor. */
  atExactly: string
  userId: string | null
  apiKeyId: string | null
  actorName: string
  action: string
  resourceType: string
  resourceId: string | null
  details: Record<string, unknown>
  ip: string | null
  requestId: string | null
  /** Null until the entry is sealed. */
  seq: bigint | null
  hash: string | null
}

export interface AuditFilter {
  action: string | undefined
  actorId: string | undefined
  since: string | undefined
  until: string | undefined
}

/** Newest first. */
export const listEntries = (
  db: Db,
  actor: Actor,
  filter: AuditFilter,
  limit: number,
  after: readonly [at: string, id: string] | undefined,
) =>
  db.rows<AuditRow>(sql`
    select id, at, at::text as at_exactly, user_id, api_key_id, actor_name, action, resource_type, resource_id, details,
      ip, request_id, seq, encode(hash, 'hex') as hash
    from audit_log
    where org_id = ${actor.orgId}
      ${filter.action === undefined ? empty : sql`and action = ${filter.action}`}
      ${filter.actorId === undefined ? empty : sql`and user_id = ${filter.actorId}`}
      ${filter.since === undefined ? empty : sql`and at >= ${filter.since}`}
      ${filter.until === undefined ? empty : sql`and at < ${filter.until}`}
      ${after === undefined ? empty : sql`and (at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by at desc, id desc
    limit ${limit}`)
