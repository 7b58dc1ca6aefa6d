import type { Actor } from '../identity/actor.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'

export type ConnectionStatus = 'pending' | 'active' | 'error' | 'expired' | 'revoked'

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

// One that is overdue is over, whether the job that says so has come by or not.
const status = sql`case when status = 'pending' and pending_until <= now() then 'expired' else status end as status`

const columns = sql`id, org_id, user_id, connector_slug, nullif(label, '') as label, ${status}, account_id, account_name, scopes, last_used_at,
  last_error, revision, created_at, updated_at, deleted_at`

export const findConnection = (db: Db, actor: Actor, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null`)

export const lockConnection = (db: Transaction, actor: Actor, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null
    for no key update`)

/** A live connection of anybody in the org, for work in the background that was bound to it. */
export const findConnectionOfOrg = (db: Db, orgId: string, id: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections where org_id = ${orgId} and id = ${id} and deleted_at is null`)

/** With the microseconds of created_at, for the cursor. */
export type ListedConnection = ConnectionRow & { createdAtExactly: string }

/** The person's connections, newest first. */
export const listConnections = (db: Db, actor: Actor, limit: number, after: { createdAt: string; id: string }) =>
  db.rows<ListedConnection>(sql`
    select ${columns}, created_at::text as created_at_exactly from connections
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and deleted_at is null
      and (created_at, id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
    order by created_at desc, id desc
    limit ${limit}`)

/** The person's usable connections to these connectors, oldest first. */
export const listActiveConnections = (db: Db, actor: Actor, slugs: readonly string[]) =>
  db.rows<ConnectionRow & { pinnedTools: unknown }>(sql`
    select ${columns}, pinned_tools from connections
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = any(${slugs}) and status = 'active'
    order by created_at, id`)

/** What the person's live connection of this name is, locked; one that nobody completed in time is none. */
export const lockLive = (db: Transaction, actor: Actor, slug: string, label: string) =>
  db.row<ConnectionRow>(sql`
    select ${columns} from connections
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = ${slug} and label = ${label}
      and deleted_at is null and status <> 'expired'
    for no key update`)

/** Makes room for a new one where nobody completed the last one in time. */
export const expireOverdue = (db: Transaction, actor: Actor, slug: string, label: string) =>
  db.execute(sql`
    update connections set status = 'expired', pending_until = null, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and user_id = ${actor.userId} and connector_slug = ${slug} and label = ${label}
      and status = 'pending' and pending_until <= now()`)

export interface NewConnection {
  id: string
  connectorSlug: string
  label: string
  status: 'pending' | 'active'
}

/** How long a connection may wait for its credentials. */
export const pendingFor = sql`interval '1 hour'`

/** Undefined when there is a live one already. */
export const insertConnection = (db: Transaction, actor: Actor, connection: NewConnection) =>
  db.row<ConnectionRow>(sql`
    insert into connections (org_id, id, user_id, connector_slug, label, status, pending_until)
    values (${actor.orgId}, ${connection.id}, ${actor.userId}, ${connection.connectorSlug}, ${connection.label},
      ${connection.status}, case when ${connection.status === 'pending'} then now() + ${pendingFor} end)
    on conflict (org_id, user_id, connector_slug, label) where deleted_at is null and status <> 'expired' do nothing
    returning ${columns}`)

/** Gives a person who starts again the full time again. */
export const prolongPending = (db: Transaction, orgId: string, id: string) =>
  db.execute(sql`
    update connections set pending_until = now() + ${pendingFor}
    where org_id = ${orgId} and id = ${id} and status = 'pending'`)

export interface Accepted extends Lasting {
  /** Sealed. */
  secrets: string
  accountId: string | null
  accountName: string | null
  scopes: string[]
  /** JSON, for an MCP server. */
  pinnedTools?: string | undefined
}

/** When a token ends, and whether there is anything to get another one with. */
export interface Lasting {
  /** Undefined: it does not end by itself. */
  expiresInSeconds?: number | undefined
  canRenew?: boolean
}

/** A token is renewed before it ends, when the work that needs it would otherwise outlive it. */
export const refreshDue = ({ expiresInSeconds, canRenew = false }: Lasting) => {
  if (expiresInSeconds === undefined || !canRenew) return tokenEnd({ expiresInSeconds })
  return sql`now() + make_interval(secs => ${Math.max(expiresInSeconds / 2, expiresInSeconds - 300)})`
}

export const tokenEnd = ({ expiresInSeconds }: Lasting) =>
  expiresInSeconds === undefined ? sql`null` : sql`now() + make_interval(secs => ${expiresInSeconds})`

/** Stores what the provider accepted. Undefined when the connection was revoked or ran out meanwhile. */
export const activate = (db: Db, orgId: string, id: string, accepted: Accepted) =>
  db.row<ConnectionRow>(sql`
    update connections
    set status = 'active', secrets = ${accepted.secrets}, secrets_version = secrets_version + 1,
      account_id = ${accepted.accountId}, account_name = ${accepted.accountName}, scopes = ${accepted.scopes},
      token_expires_at = ${tokenEnd(accepted)}, refresh_due_at = ${refreshDue(accepted)},
      lease_token = null, lease_until = null, pinned_tools = ${accepted.pinnedTools ?? null}, offered_tools = null,
      pending_until = null, last_error = null, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and deleted_at is null
      and (status in ('active', 'error') or (status = 'pending' and pending_until > now()))
    returning ${columns}`)

/** What a connection has to show its provider. */
export interface SecretsRow {
  id: string
  orgId: string
  connectorSlug: string
  accountId: string | null
  status: ConnectionStatus
  secrets: string | null
  secretsVersion: number
  /** A new token should be asked for before this one is used. */
  isDue: boolean
  /** The provider takes the token no more. */
  isOver: boolean
  lastError: string | null
}

export const secretsColumns = sql`id, org_id, connector_slug, account_id, status, secrets, secrets_version,
  coalesce(refresh_due_at <= clock_timestamp(), false) as is_due,
  coalesce(token_expires_at <= clock_timestamp(), false) as is_over, last_error`

export const findSecrets = (db: Db, orgId: string, id: string) =>
  db.row<SecretsRow>(sql`
    select ${secretsColumns} from connections where org_id = ${orgId} and id = ${id} and deleted_at is null`)

/** What comes of giving a grant back, when there is one and the provider takes it back. */
export const revoke = (db: Transaction, actor: Actor, id: string, isGrant: boolean) =>
  db.row<{ providerRevocation: 'pending' | 'unsupported' }>(sql`
    update connections
    set status = 'revoked', deleted_at = now(), pending_until = null, lease_token = null, lease_until = null,
      provider_revocation = case when ${isGrant} and secrets is not null then 'pending' else 'unsupported' end,
      secrets = case when ${isGrant} then secrets end, pinned_tools = null, offered_tools = null,
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null
    returning provider_revocation`)

/** The grant is given back, or never will be: nothing of it is kept. */
export const endRevocation = (
  db: Db,
  orgId: string,
  id: string,
  leaseToken: string,
  outcome: 'revoked' | 'failed' | 'unsupported',
) =>
  db.execute(sql`
    update connections
    set provider_revocation = ${outcome}, secrets = null, lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'revoked'`)

export const findRevocation = (db: Db, orgId: string, id: string) =>
  db.row<{ providerRevocation: 'pending' | 'revoked' | 'failed' | 'unsupported' | null }>(sql`
    select provider_revocation from connections where org_id = ${orgId} and id = ${id}`)

/** Ends what nobody completed in time. */
export const expireConnections = (db: Db, limit: number) =>
  db.execute(sql`
    -- all orgs: time passes everywhere
    update connections set status = 'expired', pending_until = null, revision = revision + 1, updated_at = now()
    where (org_id, id) in (
      select org_id, id from connections where status = 'pending' and pending_until <= now()
      order by pending_until limit ${limit} for update skip locked)`)

export const setLastError = (db: Db, orgId: string, id: string, lastError: string) =>
  db.execute(sql`
    update connections set last_error = ${lastError}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and deleted_at is null and status <> 'active'`)

export const releaseRevocation = (db: Db, orgId: string, id: string, leaseToken: string) =>
  db.execute(sql`
    update connections set lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'revoked'`)
