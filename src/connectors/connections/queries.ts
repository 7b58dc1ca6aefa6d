import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'
import type { ConnectionRef } from './access.ts'

type ConnectionStatus = 'pending' | 'active' | 'error' | 'expired' | 'revoked'

export interface ConnectionRow {
  id: string
  orgId: string
  userId: string
  connectorSlug: string
  label: string | null
  status: ConnectionStatus
  accountId: string | null
  accountName: string | null
  scopes: string[]
  lastUsedAt: string | null
  lastError: string | null
  revision: number
  createdAt: string
  updatedAt: string
  deletedAt: string | null
}

// Overdue connections read as expired before the job has changed their row.
const status = sql`
  case when status = 'pending' and pending_until <= (select now()) then 'expired' else status end as status`

const columnsWith = (
  statusColumn: Sql,
) => sql`id, org_id, user_id, connector_slug, nullif(label, '') as label, ${statusColumn}, account_id, account_name, scopes, last_used_at,
  last_error, revision, created_at, updated_at, deleted_at`

const columns = columnsWith(status)

export const findConnection = (db: Db, actor: Actor, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null`)

export const lockConnection = (db: Transaction, actor: Actor, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null
    for no key update`)

/** Locks the connections of a person. */
export const lockConnectionsOf = (db: Transaction, orgId: string, userId: string) =>
  db.rows<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${orgId} and user_id = ${userId} and deleted_at is null
    order by id
    for no key update`)

export interface ConnectionOwner {
  orgId: string
  userId: string
}

/** People with connections, in all orgs, ordered by org and person, after `after`. */
export const listOwners = (db: Db, limit: number, after: ConnectionOwner | undefined) =>
  db.rows<ConnectionOwner>(sql`
    -- all orgs: an hourly job of the server
    select distinct org_id, user_id from connections
    where deleted_at is null
      and ${after ? sql`(org_id, user_id) > (${after.orgId}::uuid, ${after.userId}::uuid)` : sql`true`}
    order by org_id, user_id
    limit ${limit}`)

/** A connection of any user of the org, for background work that belongs to it. */
export const findConnectionOfOrg = (db: Db, orgId: string, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections where org_id = ${orgId} and id = ${id} and deleted_at is null`)

/** Whether the person has another connection of the connector that works. */
export const hasOtherActive = async (
  db: Db,
  { orgId, id, userId, connectorSlug }: Pick<ConnectionRow, 'orgId' | 'id' | 'userId' | 'connectorSlug'>,
): Promise<boolean> =>
  (await db.row(sql`
    select from connections
    where org_id = ${orgId} and user_id = ${userId} and connector_slug = ${connectorSlug} and id <> ${id}
      and status = 'active' and deleted_at is null
    limit 1`)) !== undefined

/** Includes `created_at` with microseconds, for the cursor. */
type ListedConnection = ConnectionRow & { createdAtExactly: string }

/** The user's connections, newest first. */
export const listConnections = (db: Db, actor: Actor, limit: number, after: { createdAt: string; id: string }) =>
  db.rows<ListedConnection>(sql`
    select ${columns}, created_at::text as created_at_exactly from connections
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and deleted_at is null
      and (created_at, id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
    order by created_at desc, id desc
    limit ${limit}`)

/** The connections of one connector whose tools a person is offered. A turn has at most 128 tools. */
const maxOffered = 50
/** Those of them whose tools are stored with the connection, which are up to 1 MB each. */
const maxWithTools = 20

/** The user's active connections for these connectors, oldest first, as far as their tools are offered. */
export const listActiveConnections = (db: Db, actor: Actor, slugs: readonly string[]) =>
  db.rows<ConnectionRow & { pinnedTools: unknown }>(sql`
    select ${columns}, pinned_tools
    from (
      select *, row_number() over (partition by connector_slug order by created_at, id) as place
      from connections
      where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = any(${slugs})
        and status = 'active'
    ) connections
    where place <= case when pinned_tools is null then ${maxOffered}::int else ${maxWithTools}::int end
    order by created_at, id`)

/** Locks the user's current connection for this connector and label. Expired connections do not count. */
export const lockLive = (db: Transaction, actor: Actor, slug: string, label: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = ${slug} and label = ${label}
      and deleted_at is null and status <> 'expired'
    for no key update`)

/** Expires an overdue connection now, so that a new one with the same label can be inserted. */
export const expireOverdue = (db: Transaction, actor: Actor, slug: string, label: string) =>
  db.execute(sql`
    update connections set status = 'expired', pending_until = null, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = ${slug} and label = ${label}
      and status = 'pending' and pending_until <= now()`)

interface NewConnection {
  id: string
  connectorSlug: string
  label: string
  status: 'pending' | 'active'
}

/** Time to complete a connection. */
const pendingFor = sql`interval '1 hour'`

/** Undefined when the user already has a current connection for this connector and label. */
export const insertConnection = (db: Transaction, actor: Actor, connection: NewConnection) =>
  db.row<ConnectionRow>(sql`
    insert into connections (org_id, id, user_id, connector_slug, label, status, pending_until)
    values (${actor.orgId}, ${connection.id}, ${actor.userId}, ${connection.connectorSlug}, ${connection.label},
      ${connection.status}, ${connection.status === 'pending' ? sql`now() + ${pendingFor}` : sql`null`})
    on conflict (org_id, user_id, connector_slug, label) where deleted_at is null and status <> 'expired' do nothing
    returning ${columnsWith(sql`status`)}`)

/** Restarts the time to complete a pending connection. */
export const extendPending = (db: Transaction, orgId: string, id: string) =>
  db.execute(sql`
    update connections set pending_until = now() + ${pendingFor}
    where org_id = ${orgId} and id = ${id} and status = 'pending'`)

export interface Accepted extends TokenLifetime {
  /** Sealed. */
  secrets: string
  accountId: string | null
  accountName: string | null
  scopes: string[]
  /** JSON, for an MCP server. */
  pinnedTools?: string | undefined
}

export interface TokenLifetime {
  /** Undefined: the token does not expire. */
  expiresInSeconds?: number | undefined
  /** There is a refresh token. */
  canRefresh?: boolean
}

export const expiresAt = ({ expiresInSeconds }: TokenLifetime) =>
  expiresInSeconds === undefined ? sql`null` : sql`now() + make_interval(secs => ${expiresInSeconds})`

/** Five minutes before the token expires, or after half of its lifetime if that is later. */
export const refreshDueAt = ({ expiresInSeconds, canRefresh = false }: TokenLifetime) => {
  if (expiresInSeconds === undefined || !canRefresh) return expiresAt({ expiresInSeconds })
  return sql`now() + make_interval(secs => ${Math.max(expiresInSeconds / 2, expiresInSeconds - 300)})`
}

/** Stores accepted credentials. Undefined when the connection has been revoked or has expired. */
export const activate = (db: Db, orgId: string, id: string, accepted: Accepted) =>
  db.row<ConnectionRow>(sql`
    update connections
    set status = 'active', secrets = ${accepted.secrets}, secrets_version = secrets_version + 1,
      account_id = ${accepted.accountId}, account_name = ${accepted.accountName}, scopes = ${accepted.scopes},
      token_expires_at = ${expiresAt(accepted)}, refresh_due_at = ${refreshDueAt(accepted)},
      lease_token = null, lease_until = null, pinned_tools = ${accepted.pinnedTools ?? null}, offered_tools = null,
      pending_until = null, last_error = null, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and deleted_at is null
      and (status in ('active', 'error') or (status = 'pending' and pending_until > now()))
    returning ${columns}`)

export interface SecretsRow {
  id: string
  orgId: string
  connectorSlug: string
  accountId: string | null
  status: ConnectionStatus
  secrets: string | null
  secretsVersion: number
  /** The token must be refreshed before it is used. */
  isDue: boolean
  /** The token has expired. */
  isExpired: boolean
  lastError: string | null
}

export const secretsColumns = sql`id, org_id, connector_slug, account_id, status, secrets, secrets_version,
  coalesce(refresh_due_at <= (select statement_timestamp()), false) as is_due,
  coalesce(token_expires_at <= (select statement_timestamp()), false) as is_expired, last_error`

export const findSecrets = (db: Db, orgId: string, id: string) =>
  db.row<SecretsRow>(sql`
    select ${secretsColumns} from connections where org_id = ${orgId} and id = ${id} and deleted_at is null`)

/** Keeps the sealed secrets if `canRevokeAtProvider`, otherwise deletes them. */
export const revoke = (db: Transaction, orgId: string, id: string, canRevokeAtProvider: boolean) =>
  db.row<{ providerRevocation: 'pending' | 'unsupported' }>(sql`
    update connections
    set status = 'revoked', deleted_at = now(), pending_until = null, lease_token = null, lease_until = null,
      provider_revocation =
        case when ${canRevokeAtProvider} and secrets is not null then 'pending' else 'unsupported' end,
      secrets = case when ${canRevokeAtProvider} then secrets end, pinned_tools = null, offered_tools = null,
      revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and deleted_at is null
    returning provider_revocation`)

/** Pending connections of all orgs that were not completed in time. */
export const listOverdue = (db: Db, limit: number) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: a periodic job
    select org_id, id from connections where status = 'pending' and pending_until <= now()
    order by pending_until limit ${limit}`)

/** Expires those of an org's connections that are still overdue. */
export const expireConnections = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    update connections set status = 'expired', pending_until = null, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id in (
      select id from connections
      where org_id = ${orgId} and id = any(${ids}::uuid[]) and status = 'pending' and pending_until <= now()
      order by id for update skip locked)`)

export const setLastError = (db: Db, orgId: string, id: string, lastError: string) =>
  db.execute(sql`
    update connections set last_error = ${lastError}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and deleted_at is null and status <> 'active'`)

export const leasedConnection = ({ orgId, id }: ConnectionRef): LeasedRow => ({
  table: sql`connections`,
  row: sql`org_id = ${orgId} and id = ${id}`,
})
