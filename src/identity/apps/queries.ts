import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../actor.ts'
import { seesAllWorkspaces } from '../permissions.ts'

export interface AppRow {
  id: string
  name: string
  clientId: string
  redirectUri: string
  userId: string
  workspaceId: string
  scopes: string[]
  lastUsedAt: string | null
  createdAt: string
}

const columns = sql`
  id, name, app_client_id as client_id, app_redirect_uri as redirect_uri, user_id, workspace_id, scopes, last_used_at,
  created_at`

const visibleTo = (actor: Actor) => (seesAllWorkspaces(actor.role) ? empty : sql`and user_id = ${actor.userId}`)

/** Newest first, only those with which an app can still get access. */
export const listApps = (db: Db, actor: Actor, limit: number, before: string | undefined) =>
  db.rows<AppRow>(sql`
    select ${columns} from api_keys
    where org_id = ${actor.orgId} and app_client_id is not null and revoked_at is null
      and app_refresh_expires_at > now() ${visibleTo(actor)} ${before === undefined ? empty : sql`and id < ${before}`}
    order by id desc
    limit ${limit}`)

/** Whether the person may see the app, whatever has become of it. */
export const findApp = (db: Db, actor: Actor, id: string) =>
  db.row<{ id: string }>(sql`
    select id from api_keys
    where org_id = ${actor.orgId} and id = ${id} and app_client_id is not null ${visibleTo(actor)}`)

export interface NewGrant {
  id: string
  userId: string
  workspaceId: string
  name: string
  scopes: readonly string[]
  clientId: string
  redirectUri: string
  prefix: string
  /** Of no token: there is none before the code is exchanged. */
  hash: Buffer
  codeHash: Buffer
  codeChallenge: string
  codeSeconds: number
}

export const insertGrant = (db: Db, orgId: string, grant: NewGrant) =>
  db.execute(sql`
    insert into api_keys (org_id, id, user_id, workspace_id, name, prefix, last4, hash, scopes, expires_at,
      app_client_id, app_redirect_uri, app_code_hash, app_code_challenge)
    values (${orgId}, ${grant.id}, ${grant.userId}, ${grant.workspaceId}, ${grant.name}, ${grant.prefix}, '',
      ${grant.hash}, ${grant.scopes}, now() + make_interval(secs => ${grant.codeSeconds}),
      ${grant.clientId}, ${grant.redirectUri}, ${grant.codeHash}, ${grant.codeChallenge})`)

export interface GrantRow extends AppRow {
  codeHash: Buffer
  codeChallenge: string
  familyHash: Buffer | null
  refreshHash: Buffer | null
  /** Of the refresh token before the current one, while a client may use it again. */
  previousHash: Buffer | null
  isRevoked: boolean
  /** Of the code, or of the access token. */
  isExpired: boolean
  isRefreshable: boolean
  last4: string
}

/** How long a client may use a replaced refresh token again. Longer than a client waits before it repeats a request. */
const retrySeconds = 30

/** Locks the authorization for the rest of the transaction. */
export const lockGrant = (db: Db, orgId: string, id: string) =>
  db.row<GrantRow>(sql`
    select ${columns}, last4, app_code_hash as code_hash, app_code_challenge as code_challenge,
      app_family_hash as family_hash, app_refresh_hash as refresh_hash,
      case when app_refreshed_at > now() - make_interval(secs => ${retrySeconds}) then app_previous_hash end
        as previous_hash, revoked_at is not null as is_revoked,
      expires_at <= now() as is_expired, coalesce(app_refresh_expires_at > now(), false) as is_refreshable
    from api_keys
    where org_id = ${orgId} and id = ${id} and app_client_id is not null
    for update`)

export interface NewTokens {
  hash: Buffer
  last4: string
  familyHash: Buffer
  refreshHash: Buffer
  accessSeconds: number
  refreshSeconds: number
  /** The request repeats the one before, so the refresh token that it came with stays the one before the current one. */
  isRetry: boolean
}

/** Replaces the tokens of the authorization. */
export const setTokens = (db: Db, orgId: string, id: string, tokens: NewTokens) => {
  const replaced = tokens.isRetry ? empty : sql`app_previous_hash = app_refresh_hash, app_refreshed_at = now(),`
  return db.execute(sql`
    update api_keys set hash = ${tokens.hash}, last4 = ${tokens.last4}, app_family_hash = ${tokens.familyHash},
      ${replaced} app_refresh_hash = ${tokens.refreshHash},
      expires_at = now() + make_interval(secs => ${tokens.accessSeconds}),
      app_refresh_expires_at = now() + make_interval(secs => ${tokens.refreshSeconds})
    where org_id = ${orgId} and id = ${id}`)
}

export const findGrantOfToken = (db: Db, hash: Buffer) =>
  db.row<{ orgId: string; id: string }>(sql`
    -- all orgs: the token determines the org
    select org_id, id from api_keys where hash = ${hash} and app_client_id is not null`)

/** Deletes authorizations whose code was not exchanged. */
export const deleteUnusedApps = (db: Db) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    delete from api_keys
    where app_client_id is not null and app_refresh_hash is null and expires_at < now() - interval '1 day'`)
