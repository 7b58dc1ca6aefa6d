import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { PersonRow } from '../members/person-queries.ts'
import type { Role } from '../permissions.ts'
import type { OrgScope } from './org-scope.ts'

// Passwords, sessions and links belong to people, not orgs, so their tables have no org_id.

/** A password of a person. A person has one per org scope. */
export interface PasswordRow {
  id: string
  userId: string
  passwordHash: string
  orgScope: OrgScope
  hasFactor: boolean
}

const passwordColumns = sql`
  a.id, a.user_id, a.password as password_hash, a.reach as org_scope,
  exists (
    select from two_factors t where t.user_id = a.user_id and t.verified and (t.reach is null or t.reach @> a.reach)
  ) as has_factor`

/** Oldest first. */
export const findPasswordsByEmail = (db: Db, email: string) =>
  db.rows<PasswordRow>(sql`
    select ${passwordColumns}
    from users u join sign_in_accounts a on a.user_id = u.id and a.provider_id = 'credential'
    where u.email = ${email} and a.password is not null
    order by a.id`)

export const findPasswords = (db: Db, userId: string) =>
  db.rows<PasswordRow>(sql`
    select ${passwordColumns} from sign_in_accounts a
    where a.user_id = ${userId} and a.provider_id = 'credential' and a.password is not null
    order by a.id`)

export const hasPasswordForAllOrgs = async (db: Db, userId: string): Promise<boolean> => {
  const row = await db.row<{ id: string }>(sql`
    select id from sign_in_accounts
    where user_id = ${userId} and provider_id = 'credential' and password is not null and reach is null`)
  return row !== undefined
}

/** Whether the person has ever signed in. */
export const hasSignedIn = async (db: Db, userId: string): Promise<boolean> => {
  const row = await db.row<{ id: string }>(sql`select id from users where id = ${userId} and signed_in_at is not null`)
  return row !== undefined
}

/** Sets the password for all orgs of the person. */
export const upsertPassword = (db: Db, id: string, userId: string, hash: string) =>
  db.execute(sql`
    insert into sign_in_accounts (id, user_id, provider_id, account_id, password)
    values (${id}, ${userId}, 'credential', ${userId}, ${hash})
    on conflict (user_id, provider_id, reach) do update set password = excluded.password, updated_at = now()`)

/** Changes the scope of the password and of its second factor. */
export const widenPassword = async (db: Db, password: PasswordRow, orgScope: OrgScope): Promise<void> => {
  await db.execute(sql`update sign_in_accounts set reach = ${orgScope} where id = ${password.id}`)
  await db.execute(sql`
    update two_factors set reach = ${orgScope}
    where user_id = ${password.userId} and reach is not distinct from ${password.orgScope}::uuid[]`)
}

/** Deletes the passwords, second factors, sessions and step-up tokens of narrower scopes than the one that was proved. */
export const deleteNarrowerProofs = async (db: Db, userId: string, orgScope: OrgScope): Promise<void> => {
  const narrower =
    orgScope === null
      ? sql`user_id = ${userId} and reach is not null`
      : sql`user_id = ${userId} and reach <@ ${orgScope}::uuid[] and not reach @> ${orgScope}::uuid[]`
  await db.execute(sql`delete from sign_in_accounts where ${narrower}`)
  await db.execute(sql`delete from two_factors where ${narrower}`)
  await db.execute(sql`delete from sign_in_sessions where ${narrower}`)
  await db.execute(sql`delete from step_up_tokens where ${narrower}`)
}

/** Deletes the sign-ins within the scope that wait for a code, of which the password was right. */
export const deleteChallenges = (db: Db, userId: string, orgScope: OrgScope) =>
  db.execute(sql`
    delete from sign_in_verifications
    where value = ${userId}::text and (${orgScope}::uuid[] is null or reach <@ ${orgScope}::uuid[])`)

export const deleteSessions = (db: Db, userId: string) =>
  db.execute(sql`delete from sign_in_sessions where user_id = ${userId}`)

const removeOrg = (orgId: string): Sql => sql`reach = array_remove(reach, ${orgId}::uuid)`

/**
 * Removes the org from the scopes of people's links, sessions, passwords, second factors and step-up tokens. Those for
 * all orgs stay: whether they give access to the org depends on the membership.
 */
export const withdrawOrg = async (db: Db, userIds: readonly string[], orgId: string): Promise<void> => {
  const ofPeople = sql`user_id = any(${userIds}::uuid[])`
  const ofOrg = sql`${ofPeople} and reach @> array[${orgId}::uuid]`
  await db.execute(sql`delete from sign_in_links where ${ofOrg}`)
  await db.execute(sql`delete from step_up_tokens where ${ofOrg}`)
  await db.execute(sql`
    delete from sign_in_verifications where value = any(${userIds}::text[]) and reach @> array[${orgId}::uuid]`)
  await db.execute(sql`update two_factors set ${removeOrg(orgId)} where ${ofOrg}`)
  await db.execute(sql`update sign_in_accounts set ${removeOrg(orgId)} where ${ofOrg}`)
  await db.execute(sql`update sign_in_sessions set ${removeOrg(orgId)} where ${ofOrg}`)
  await db.execute(sql`delete from sign_in_sessions where ${ofPeople} and reach = '{}'`)
  await db.execute(sql`delete from sign_in_accounts where ${ofPeople} and reach = '{}'`)
  await db.execute(sql`delete from two_factors where ${ofPeople} and reach = '{}'`)
}

/** Deletes the links of the org that a member created and nobody has used. */
export const deleteLinksBy = (db: Db, orgId: string, userId: string) =>
  db.execute(sql`
    delete from sign_in_links where created_by_id = ${userId} and reach @> array[${orgId}::uuid]`)

export const deleteSessionsWithoutOrg = (db: Db, userId: string) =>
  db.execute(sql`
    -- all orgs: the person may be a member of another org
    delete from sign_in_sessions
    where user_id = ${userId} and not exists (select from members where user_id = ${userId})`)

/** Failed attempts between the previous sign-in and the one of the session. */
export interface FailedSignIns {
  count: number
  lastAt: string
  /** The last five different IP addresses. */
  addresses: string[]
}

export interface SignInAccountRow extends PersonRow {
  hasPassword: boolean
  twoFactorEnabled: boolean
  failedSignIns: FailedSignIns | null
  orgs: { id: string; name: string; role: Role; logoVersion: string | null }[]
}

/** The person of a session and the orgs of its scope, oldest membership first. The name is the one in the first org. */
export const findAccount = (db: Db, sessionId: string) =>
  db.row<SignInAccountRow>(sql`
    -- all orgs: a person reads their own memberships
    select u.id, u.email, s.failed_sign_ins,
      -- The name that one org chose must not be shown to a session that began with the link of another org.
      coalesce(opened.name, case when s.reach is null then u.name else split_part(u.email, '@', 1) end) as name,
      exists (
        select from two_factors t
        where t.user_id = u.id and t.verified and (t.reach is null or t.reach && s.reach)) as two_factor_enabled,
      exists (
        select from sign_in_accounts a
        where a.user_id = u.id and a.password is not null and (a.reach is null or a.reach && s.reach)) as has_password,
      coalesce(opened.orgs, '[]') as orgs
    from sign_in_sessions s
      join users u on u.id = s.user_id
      left join lateral (
        select json_agg(
            json_build_object('id', o.id, 'name', o.name, 'role', m.role, 'logoVersion', o.logo_version)
            order by m.created_at, m.id) as orgs,
          (array_agg(m.name order by m.created_at, m.id))[1] as name
        from members m join orgs o on o.id = m.org_id
        where m.user_id = s.user_id and (s.reach is null or m.org_id = any(s.reach))
      ) opened on true
    where s.id = ${sessionId}`)

/** Replaces the link of the same scope; a link for all orgs replaces all others. */
export const replaceSignInLink = (
  db: Db,
  { hash, userId, orgScope, createdBy }: { hash: Buffer; userId: string; orgScope: OrgScope; createdBy: string | null },
) =>
  db.row<{ expiresAt: string }>(sql`
    with older as (
      delete from sign_in_links
      where (user_id = ${userId} and (${orgScope}::uuid[] is null or reach = ${orgScope}::uuid[])) or expires_at <= now())
    insert into sign_in_links (hash, user_id, reach, created_by_id, expires_at)
    values (${hash}, ${userId}, ${orgScope}, ${createdBy}, now() + interval '24 hours')
    returning expires_at`)

export interface LinkOrgRow {
  id: string
  name: string
  logoVersion: string | null
}

/** The org that the link opens, null when it opens none or several. Undefined when it is unknown, used or expired. */
export const findLinkOrg = (db: Db, hash: Buffer) =>
  db.row<{ org: LinkOrgRow | null }>(sql`
    -- all orgs: the link determines the orgs
    select opened.org
    from sign_in_links l
      left join lateral (
        select case when count(*) = 1
          then (array_agg(json_build_object('id', o.id, 'name', o.name, 'logoVersion', o.logo_version)))[1] end as org
        from orgs o
        where o.id = any(l.reach)
          or (l.reach is null and o.id in (select m.org_id from members m where m.user_id = l.user_id))
      ) opened on true
    where l.hash = ${hash} and l.expires_at > now()`)

export const findLinkUser = (db: Db, hash: Buffer) =>
  db.row<{ userId: string }>(sql`select user_id from sign_in_links where hash = ${hash}`)

/** Deletes the link. Undefined when it is unknown, used or expired. */
export const consumeSignInLink = (db: Db, hash: Buffer) =>
  db.row<{ userId: string; orgScope: OrgScope }>(sql`
    delete from sign_in_links where hash = ${hash} and expires_at > now() returning user_id, reach as org_scope`)

/** Moves the failed attempts within the scope from the passwords to the session, and resets their counts. */
export const recordSignIn = async (db: Db, userId: string, token: string, orgScope: OrgScope): Promise<void> => {
  const within = sql`user_id = ${userId} and (${orgScope}::uuid[] is null or reach <@ ${orgScope}::uuid[])`
  await db.execute(sql`
    update sign_in_sessions set failed_sign_ins = (
      select jsonb_build_object(
        'count', sum(failed_count),
        'lastAt', to_char(max(failed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'addresses', (
          select jsonb_agg(distinct address) from sign_in_accounts, unnest(failed_from) as address where ${within}))
      from sign_in_accounts where ${within} and failed_count > 0
      having count(*) > 0)
    where token = ${token}`)
  await db.execute(sql`
    update sign_in_accounts set failed_count = 0, failed_at = null, failed_from = '{}'
    where ${within} and failed_count > 0`)
  await db.execute(sql`update users set signed_in_at = now() where id = ${userId}`)
}

export const deleteExpired = (db: Db) =>
  db.execute(sql`
    with
      sessions as (delete from sign_in_sessions where expires_at <= now()),
      verifications as (delete from sign_in_verifications where expires_at <= now()),
      throttles as (delete from sign_in_throttles where updated_at < now() - interval '1 day'),
      links as (delete from sign_in_links where expires_at <= now())
    delete from step_up_tokens where expires_at <= now()`)
