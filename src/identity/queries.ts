import { sql } from '../platform/database.ts'
import type { Db } from '../platform/database.ts'
import type { Actor } from './actor.ts'
import type { Role } from './permissions.ts'

export interface IdentityRow {
  orgId: string
  orgName: string
  userId: string
  userName: string
  email: string
  role: Role
  apiKeyId: string
  apiKeyName: string
  scopes: string[]
  workspaceId: string | null
  expiresAt: string | null
}

/** One row for each hash asked about; a key that does not stand for anyone has no orgId. */
export type KeyLookupRow = { hash: Buffer; epoch: bigint } & (IdentityRow | { orgId: null })

export const currentEpoch = (db: Db) => db.row<{ epoch: bigint }>(sql`select epoch from auth_epoch`)

export const orgsChangedSince = (db: Db, epoch: bigint) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: tells every process whose authority to look up again
    select id from orgs where auth_epoch > ${epoch}`)

/** Whoever stands behind these keys, all read in one snapshot together with the epoch that it belongs to. */
export const findKeyIdentities = (db: Db, hashes: Buffer[]) =>
  db.rows<KeyLookupRow>(sql`
    -- all orgs: a key says which org it belongs to
    select asked.hash, e.epoch, k.org_id, k.org_name, k.user_id, k.user_name, k.email, k.role,
      k.api_key_id, k.api_key_name, k.scopes, k.workspace_id, k.expires_at
    from unnest(${hashes}::bytea[]) as asked (hash)
      cross join auth_epoch e
      left join lateral (
        select k.org_id, o.name as org_name, k.user_id, u.name as user_name, u.email, m.role,
          k.id as api_key_id, k.name as api_key_name, k.scopes, k.expires_at,
          case when m.role in ('owner', 'admin') or wm.user_id is not null then w.id end as workspace_id
        from api_keys k
          join orgs o on o.id = k.org_id
          join members m on m.org_id = k.org_id and m.user_id = k.user_id
          join users u on u.id = k.user_id
          left join workspaces w on w.org_id = k.org_id and w.deleted_at is null
            and case when k.workspace_id is null then w.is_default else w.id = k.workspace_id end
          left join workspace_members wm
            on wm.org_id = k.org_id and wm.workspace_id = w.id and wm.user_id = k.user_id
        where k.hash = asked.hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      ) k on true`)

/** A live workspace of the org, and whether the user was added to it. */
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

export const findWorkspaceName = (db: Db, actor: Actor, id: string) =>
  db.row<{ id: string; name: string }>(sql`
    select id, name from workspaces where org_id = ${actor.orgId} and id = ${id} and deleted_at is null`)
