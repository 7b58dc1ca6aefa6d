import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { pageBound } from '../../platform/database/partitions.ts'
import { newId } from '../../platform/ids.ts'
import type { Actor, AuditActor, Origin } from '../actor.ts'
import type { OrgScope } from '../sign-in/org-scope.ts'

export interface AuditEvent {
  action: string
  resourceType: string
  resourceId: string | null
  details: Record<string, unknown>
}

export interface NewEntry extends AuditEvent {
  orgId: string
  actor: AuditActor
}

/** Inserts entries, as a statement or a part of one. */
export const insertEntries = (entries: readonly NewEntry[]): Sql => {
  const of = <Value>(valueOf: (entry: NewEntry) => Value): Value[] => entries.map(valueOf)
  const [first] = entries
  // Entries of one transaction have the same time, so their ids determine the order. Ids of the same millisecond are random.
  const ids = entries.map(newId).toSorted()
  // Where tables are distributed, an insert must name its org as a value.
  const isOneOrg = entries.every(({ orgId }) => orgId === first?.orgId)
  return sql`
    insert into audit_log
      (org_id, id, user_id, api_key_id, actor_name, action, resource_type, resource_id, details, ip, request_id)
    select ${isOneOrg ? sql`${first?.orgId}::uuid` : sql`e.org_id`}, e.id, e.user_id, e.api_key_id, e.actor_name, e.action,
      e.resource_type, e.resource_id, e.details, e.ip, e.request_id
    from unnest(${of(({ orgId }) => orgId)}::uuid[], ${ids}::uuid[],
      ${of(({ actor }) => actor.userId)}::uuid[], ${of(({ actor }) => actor.apiKey?.id ?? null)}::uuid[],
      ${of(({ actor }) => actor.userName)}::text[], ${of(({ action }) => action)}::text[],
      ${of(({ resourceType }) => resourceType)}::text[], ${of(({ resourceId }) => resourceId)}::text[],
      ${of(({ details }) => JSON.stringify(details))}::jsonb[], ${of(({ actor }) => actor.origin?.ip ?? null)}::text[],
      ${of(({ actor }) => actor.origin?.requestId ?? null)}::text[])
      as e (org_id, id, user_id, api_key_id, actor_name, action, resource_type, resource_id, details, ip, request_id)`
}

export interface PersonEntries {
  userId: string
  orgScope: OrgScope
  origin: Origin | null
  by: 'person' | 'unknown'
}

/** Inserts one entry per org of the person within the scope. They share one id: the primary key begins with the org. */
export const insertPersonEntries = (db: Db, { userId, orgScope, origin, by }: PersonEntries, event: AuditEvent) =>
  db.execute(sql`
    insert into audit_log
      (org_id, id, user_id, actor_name, action, resource_type, resource_id, details, ip, request_id)
    select m.org_id, ${newId()}::uuid, ${by === 'person' ? sql`m.user_id, m.name` : sql`null::uuid, 'unknown'`},
      ${event.action}, ${event.resourceType}, ${event.resourceId}, ${JSON.stringify(event.details)}::jsonb,
      ${origin?.ip ?? null}, ${origin?.requestId ?? null}
    from members m
    where m.user_id = ${userId} and (${orgScope}::uuid[] is null or m.org_id = any(${orgScope}::uuid[]))`)

export interface AuditFields {
  id: string
  userId: string | null
  apiKeyId: string | null
  actorName: string
  action: string
  resourceType: string
  resourceId: string | null
  ip: string | null
  requestId: string | null
}

/** The columns of `AuditFields`. */
export const auditColumns = sql`
  id, user_id, api_key_id, actor_name, action, resource_type, resource_id, ip, request_id`

export interface AuditRow extends AuditFields {
  at: string
  /** `at` with microseconds, for the cursor. */
  atExactly: string
  details: Record<string, unknown>
  /** Null until the entry is sealed. */
  seq: bigint | null
  hash: string | null
}

export interface AuditFilter {
  action?: string | undefined
  actorId?: string | undefined
  resourceType?: string | undefined
  resourceId?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** Newest first. */
export const listEntries = (
  db: Db,
  actor: Actor,
  filter: AuditFilter,
  { limit, after }: { limit: number; after: readonly [at: string, id: string] | undefined },
) =>
  db.rows<AuditRow>(sql`
    select * from (
    select ${auditColumns}, at, at::text as at_exactly, details, seq, encode(hash, 'hex') as hash
    from audit_log
    where org_id = ${actor.orgId}
      ${filter.action === undefined ? empty : sql`and action = ${filter.action}`}
      ${filter.actorId === undefined ? empty : sql`and user_id = ${filter.actorId}`}
      ${filter.resourceType === undefined ? empty : sql`and resource_type = ${filter.resourceType}`}
      ${filter.resourceId === undefined ? empty : sql`and resource_id = ${filter.resourceId}`}
      ${filter.since === undefined ? empty : sql`and at >= ${filter.since}`}
      ${filter.until === undefined ? empty : sql`and at < ${filter.until}`}
      ${
        // The first condition excludes partitions; a comparison of rows does not.
        after === undefined
          ? empty
          : sql`and at <= ${after[0]}::timestamptz and (at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`
      }
    order by at desc, id desc ${pageBound}
    ) bounded order by at desc, id desc limit ${limit}`)
