import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../actor.ts'
import { seesAllWorkspaces } from '../permissions.ts'

export interface ApiKeyRow {
  id: string
  name: string
  prefix: string
  last4: string
  userId: string
  workspaceId: string | null
  scopes: string[]
  expiresAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
  createdAt: string
}

const columns = sql`
  id, name, prefix, last4, user_id, workspace_id, scopes, expires_at, last_used_at, revoked_at, created_at`

const visibleTo = (actor: Actor) => (seesAllWorkspaces(actor.role) ? empty : sql`and user_id = ${actor.userId}`)

/** Newest first, revoked keys included. */
export const listKeys = (db: Db, actor: Actor, limit: number, before: string | undefined) =>
  db.rows<ApiKeyRow>(sql`
    select ${columns} from api_keys
    where org_id = ${actor.orgId} and app_client_id is null ${visibleTo(actor)} ${before === undefined ? empty : sql`and id < ${before}`}
    order by id desc
    limit ${limit}`)

export interface NewKey {
  id: string
  userId: string
  workspaceId: string | null
  name: string
  prefix: string
  last4: string
  hash: Buffer
  scopes: readonly string[]
  expiresAt: string | null
}

export const insertKey = (db: Db, orgId: string, key: NewKey) =>
  db.row<ApiKeyRow>(sql`
    insert into api_keys (org_id, id, user_id, workspace_id, name, prefix, last4, hash, scopes, expires_at)
    values (${orgId}, ${key.id}, ${key.userId}, ${key.workspaceId}, ${key.name}, ${key.prefix}, ${key.last4},
      ${key.hash}, ${key.scopes}, ${key.expiresAt})
    returning ${columns}`)

/** Locks the key for the rest of the transaction. */
export const lockKey = (db: Db, actor: Actor, id: string) =>
  db.row<ApiKeyRow>(sql`
    select ${columns} from api_keys
    where org_id = ${actor.orgId} and id = ${id} and app_client_id is null ${visibleTo(actor)}
    for update`)

export const revokeKey = (db: Db, orgId: string, id: string) =>
  db.row<ApiKeyRow>(sql`
    update api_keys set revoked_at = now()
    where org_id = ${orgId} and id = ${id} and revoked_at is null
    returning ${columns}`)

export const findKey = (db: Db, orgId: string, id: string) =>
  db.row<ApiKeyRow>(sql`select ${columns} from api_keys where org_id = ${orgId} and id = ${id}`)

/** For commands, which name a key by its id alone. */
export const findOrgOfKey = (db: Db, id: string) =>
  db.row<{ orgId: string }>(sql`
    -- all orgs: for commands of the operator
    select org_id from api_keys where id = ${id}`)
