import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'
import type { Actor } from './actor.ts'
import type { Language } from '../platform/text/languages.ts'
import type { Role } from './permissions.ts'

export interface IdentityRow {
  orgId: string
  orgName: string
  timeZone: string | null
  userId: string
  userName: string
  email: string
  role: Role
  apiKeyId: string
  apiKeyName: string
  scopes: string[]
  workspaceId: string | null
  workspaceIds: string[]
  expiresAt: string | null
}

/** `orgId` is null for a key that is revoked, expired or without a member. `hash` is hexadecimal. */
export type KeyLookupRow = { epoch: bigint; hash: string } & (IdentityRow | { orgId: null })

export const currentEpoch = (db: Db) => db.row<{ epoch: bigint }>(sql`select epoch from auth_epoch`)

export const orgsChangedSince = (db: Db, epoch: bigint) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: every process drops the cached keys of changed orgs
    select id from orgs where auth_epoch > ${epoch}`)

/** The current epoch and the orgs whose authority changed after `epoch`; no orgs when that is null. */
export const authorityChangedSince = (db: Db, epoch: bigint | null) =>
  db.row<{ epoch: bigint; orgIds: string[] }>(sql`
    -- all orgs: open streams of all orgs are checked at once
    select e.epoch, array(select o.id from orgs o where o.auth_epoch > ${epoch}::bigint) as org_ids from auth_epoch e`)

/** The text of an array: pg takes ten times as long for an array of buffers. */
const byteaArray = (hashes: string[]): string => `{\\\\x${hashes.join(',\\\\x')}}`

/** The live workspaces that a member was added to; the table of members must be called `m`. */
const workspacesOfMember = sql`array(
  select joined.workspace_id from workspace_members joined
    join workspaces live on live.org_id = joined.org_id and live.id = joined.workspace_id and live.deleted_at is null
  where joined.org_id = m.org_id and joined.user_id = m.user_id) as workspace_ids`

/** Which of these hashes (hexadecimal) belong to keys that were issued, whatever has become of them. */
export const findIssuedKeys = (db: Db, hashes: string[]) =>
  db.rows<{ hash: string }>(sql`
    -- all orgs: the key determines the org
    select encode(hash, 'hex') as hash from api_keys where hash = any(${byteaArray(hashes)}::bytea[])`)

/** The identities of the issued keys with these hashes, and the epoch, read in one snapshot. */
export const findKeyIdentities = (db: Db, hashes: string[]) =>
  db.rows<KeyLookupRow>(sql`
    -- all orgs: the key determines the org
    select e.epoch, encode(k.hash, 'hex') as hash, m.org_id, o.name as org_name, o.default_time_zone as time_zone,
      m.user_id, m.name as user_name, u.email, m.role, k.id as api_key_id, k.name as api_key_name, k.scopes, k.expires_at,
      case when m.role in ('owner', 'admin') or wm.user_id is not null then w.id end as workspace_id,
      ${workspacesOfMember}
    from api_keys k
      cross join auth_epoch e
      left join members m on m.org_id = k.org_id and m.user_id = k.user_id
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      left join orgs o on o.id = m.org_id
      left join users u on u.id = m.user_id
      left join workspaces w on w.org_id = m.org_id and w.deleted_at is null
        and case when k.workspace_id is null then w.is_default else w.id = k.workspace_id end
      left join workspace_members wm
        on wm.org_id = m.org_id and wm.workspace_id = w.id and wm.user_id = m.user_id
    where k.hash = any(${byteaArray(hashes)}::bytea[])`)

export interface SessionIdentityRow extends Omit<IdentityRow, 'apiKeyId' | 'apiKeyName' | 'scopes' | 'expiresAt'> {
  isWorkspaceAllowed: boolean
}

/**
 * The person of a live session in the named org, else in the org of its scope that they joined first, with the named
 * workspace, else the org's default one. `orgId` is null when the session is live but has no access to the org.
 */
export const findSessionIdentity = (db: Db, token: string, orgId: string | null, workspaceId: string | null) =>
  db.row<SessionIdentityRow | { orgId: null }>(sql`
    -- all orgs: a session belongs to a person, who may be in several orgs
    select m.org_id, o.name as org_name, o.default_time_zone as time_zone, s.user_id, m.name as user_name, u.email,
      m.role, w.id as workspace_id,
      (w.id is not null and (m.role in ('owner', 'admin') or wm.user_id is not null)) as is_workspace_allowed,
      ${workspacesOfMember}
    from sign_in_sessions s
      join users u on u.id = s.user_id
      left join lateral (
        select m.org_id, m.user_id, m.name, m.role from members m
        where m.user_id = s.user_id and (s.reach is null or m.org_id = any(s.reach))
          and (${orgId}::uuid is null or m.org_id = ${orgId}::uuid)
        order by m.created_at, m.id
        limit 1
      ) m on true
      left join orgs o on o.id = m.org_id
      left join workspaces w on w.org_id = m.org_id and w.deleted_at is null
        and case when ${workspaceId}::uuid is null then w.is_default else w.id = ${workspaceId}::uuid end
      left join workspace_members wm
        on wm.org_id = w.org_id and wm.workspace_id = w.id and wm.user_id = s.user_id
    where s.token = ${token} and s.expires_at > now()`)

/** The positions, from 1, of sessions that have ended, expired or lost the org at the same position. */
export const listEndedSessions = (db: Db, tokens: string[], orgIds: string[]) =>
  db.rows<{ place: bigint }>(sql`
    -- all orgs: open streams of all orgs are checked at once
    select asked.place
    from unnest(${tokens}::text[], ${orgIds}::uuid[]) with ordinality as asked (token, org_id, place)
    where not exists (
      select from sign_in_sessions s
      where s.token = asked.token and s.expires_at > now() and (s.reach is null or asked.org_id = any(s.reach)))`)

/** Whether the user was added to the workspace. Undefined when it is not in the org or deleted. */
export const findWorkspaceAccess = (db: Db, orgId: string, userId: string, workspaceId: string) =>
  db.row<{ isMember: boolean }>(sql`
    select exists (
      select from workspace_members wm
      where wm.org_id = w.org_id and wm.workspace_id = w.id and wm.user_id = ${userId}) as is_member
    from workspaces w
    where w.org_id = ${orgId} and w.id = ${workspaceId} and w.deleted_at is null`)

export const touchKey = (db: Db, orgId: string, apiKeyId: string) =>
  db.execute(sql`
    update api_keys set last_used_at = now()
    where org_id = ${orgId} and id = ${apiKeyId}
      and (last_used_at is null or last_used_at < now() - interval '10 minutes')`)

/** Changes the row at most once an hour. */
export const recordActivity = (db: Db, orgId: string, userId: string) =>
  db.execute(sql`
    update members set last_active_at = now()
    where org_id = ${orgId} and user_id = ${userId}
      and (last_active_at is null or last_active_at < now() - interval '1 hour')`)

export interface CallerRow {
  language: Language | null
  logoVersion: string | null
  workspace: { id: string; name: string } | null
}

export const findCaller = (db: Db, { orgId, userId, workspaceId }: Actor) =>
  db.row<CallerRow>(sql`
    select m.language, o.logo_version,
      case when w.id is not null then json_build_object('id', w.id, 'name', w.name) end as workspace
    from members m
      join orgs o on o.id = m.org_id
      left join workspaces w on w.org_id = m.org_id and w.id = ${workspaceId} and w.deleted_at is null
    where m.org_id = ${orgId} and m.user_id = ${userId}`)

export interface UserIdentityRow {
  orgId: string
  orgName: string
  timeZone: string | null
  userId: string
  userName: string
  email: string
  role: Role
  workspaceIds: string[]
}

/** Whether a key is neither revoked nor expired. */
export const isKeyLive = async (db: Db, orgId: string, id: string): Promise<boolean> => {
  const row = await db.row<{ id: string }>(sql`
    select id from api_keys
    where org_id = ${orgId} and id = ${id} and revoked_at is null and (expires_at is null or expires_at > now())`)
  return row !== undefined
}

/** The expiry of a key. Undefined when it is revoked or expired. */
export const findKeyExpiry = (db: Db, orgId: string, id: string) =>
  db.row<{ expiresAt: string | null }>(sql`
    select expires_at from api_keys
    where org_id = ${orgId} and id = ${id} and revoked_at is null and (expires_at is null or expires_at > now())`)

/** A member of the org with access to the workspace. */
export const findUserIdentity = (db: Db, orgId: string, userId: string, workspaceId: string) =>
  db.row<UserIdentityRow>(sql`
    select m.org_id, o.name as org_name, o.default_time_zone as time_zone, m.user_id, m.name as user_name, u.email,
      m.role, ${workspacesOfMember}
    from members m
      join orgs o on o.id = m.org_id
      join users u on u.id = m.user_id
      join workspaces w on w.org_id = m.org_id and w.id = ${workspaceId} and w.deleted_at is null
      left join workspace_members wm on wm.org_id = m.org_id and wm.workspace_id = w.id and wm.user_id = m.user_id
    where m.org_id = ${orgId} and m.user_id = ${userId} and (m.role in ('owner', 'admin') or wm.user_id is not null)`)

export const isMember = async (db: Db, orgId: string, userId: string): Promise<boolean> =>
  (await db.row(sql`select from members where org_id = ${orgId} and user_id = ${userId}`)) !== undefined

/** Those of these people, each in an org, who are not members of it. */
export const listFormerMembers = (db: Db, orgIds: string[], userIds: string[]) =>
  db.rows<{ orgId: string; userId: string }>(sql`
    -- all orgs: an hourly job of the server
    select asked.org_id, asked.user_id from unnest(${orgIds}::uuid[], ${userIds}::uuid[]) as asked (org_id, user_id)
    where not exists (select from members m where m.org_id = asked.org_id and m.user_id = asked.user_id)`)

export interface StandingRow {
  /** The position of the person in the question, from 1. */
  place: bigint
  role: Role
  memberSince: string
  isKeyLive: boolean
  workspaceIds: string[]
}

/** The members of the org among these people, with their workspaces, and whether the key of each is live. */
export const listStandings = (db: Db, orgId: string, userIds: string[], apiKeyIds: (string | null)[]) =>
  db.rows<StandingRow>(sql`
    select asked.place, m.role, m.created_at as member_since,
      (asked.api_key_id is null or exists (
        select from api_keys k
        where k.org_id = m.org_id and k.id = asked.api_key_id and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > now()))) as is_key_live,
      ${workspacesOfMember}
    from unnest(${userIds}::uuid[], ${apiKeyIds}::uuid[]) with ordinality as asked (user_id, api_key_id, place)
      join members m on m.org_id = ${orgId} and m.user_id = asked.user_id`)
