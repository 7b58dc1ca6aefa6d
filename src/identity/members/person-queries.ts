import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { Role } from '../permissions.ts'
import type { Reach } from '../sign-in/reach.ts'

// People belong to no org: nothing in here is a tenant's.

export interface PersonRow {
  id: string
  email: string
  name: string
}

export const findPerson = (db: Db, id: string) =>
  db.row<PersonRow>(sql`select id, email, name from users where id = ${id}`)

export const findPersonByEmail = (db: Db, email: string) =>
  db.row<PersonRow>(sql`select id, email, name from users where email = ${email}`)

/** Undefined when the address is known already. */
export const insertPerson = (db: Db, person: PersonRow) =>
  db.row<PersonRow>(sql`
    insert into users (id, email, name) values (${person.id}, ${person.email}, ${person.name})
    on conflict (email) do nothing
    returning id, email, name`)

export interface ProofsRow {
  passwordId: string | null
  passwordHash: string | null
  passwordReach: Reach
  factorId: string | null
  totpSecret: string | null
  totpReach: Reach
  lockedUntil: string | null
}

/** What a person can prove themselves with in this org. A second factor counts once it was confirmed. */
export const findProofs = (db: Db, userId: string, orgId: string) =>
  db.row<ProofsRow>(sql`
    select a.id as password_id, a.password as password_hash, a.reach as password_reach,
      t.id as factor_id, t.secret as totp_secret, t.reach as totp_reach,
      case when t.locked_until > now() then t.locked_until end as locked_until
    from users u
      left join sign_in_accounts a on a.user_id = u.id and a.provider_id = 'credential'
        and (a.reach is null or ${orgId}::uuid = any(a.reach))
      left join two_factors t on t.user_id = u.id and t.verified and (t.reach is null or ${orgId}::uuid = any(t.reach))
    where u.id = ${userId}
    limit 1`)

/** One of a person's passwords, each good for a scope of its own. */
export interface PasswordRow {
  id: string
  userId: string
  passwordHash: string
  reach: Reach
  hasFactor: boolean
}

const passwordColumns = sql`
  a.id, a.user_id, a.password as password_hash, a.reach,
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

/** What a person proves themselves with stays as it is until the transaction ends. */
export const lockPerson = (db: Db, userId: string) =>
  db.execute(sql`select id from users where id = ${userId} for no key update`)

export const hasPasswordForAllOrgs = async (db: Db, userId: string): Promise<boolean> => {
  const row = await db.row<{ id: string }>(sql`
    select id from sign_in_accounts
    where user_id = ${userId} and provider_id = 'credential' and password is not null and reach is null`)
  return row !== undefined
}

/** For all orgs of the person. */
export const upsertPassword = (db: Db, id: string, userId: string, hash: string) =>
  db.execute(sql`
    insert into sign_in_accounts (id, user_id, provider_id, account_id, password)
    values (${id}, ${userId}, 'credential', ${userId}, ${hash})
    on conflict (user_id, provider_id, reach) do update set password = excluded.password, updated_at = now()`)

/** The password, and the second factor that goes with it, are good for these orgs from now on. */
export const widenPassword = async (db: Db, password: PasswordRow, reach: Reach): Promise<void> => {
  await db.execute(sql`update sign_in_accounts set reach = ${reach} where id = ${password.id}`)
  await db.execute(sql`
    update two_factors set reach = ${reach}
    where user_id = ${password.userId} and reach is not distinct from ${password.reach}::uuid[]`)
}

/** Whoever proved the wider scope replaces what was set up for parts of it, and what that opened. */
export const deleteNarrowerProofs = async (db: Db, userId: string, reach: Reach): Promise<void> => {
  const narrower =
    reach === null
      ? sql`user_id = ${userId} and reach is not null`
      : sql`user_id = ${userId} and reach <@ ${reach}::uuid[] and not reach @> ${reach}::uuid[]`
  await db.execute(sql`delete from sign_in_accounts where ${narrower}`)
  await db.execute(sql`delete from two_factors where ${narrower}`)
  await db.execute(sql`delete from sign_in_sessions where ${narrower}`)
  await db.execute(sql`delete from step_up_tokens where ${narrower}`)
}

export const deleteSessions = (db: Db, userId: string) =>
  db.execute(sql`delete from sign_in_sessions where user_id = ${userId}`)

const takenFrom = (orgId: string): Sql => sql`reach = array_remove(reach, ${orgId}::uuid)`

/**
 * What opens this org opens it no longer. Only what this org's links began can end here: what opens all orgs of a person
 * goes by whether they are a member.
 */
export const withdrawReach = async (db: Db, userId: string, orgId: string): Promise<void> => {
  const ofOrg = sql`user_id = ${userId} and reach @> array[${orgId}::uuid]`
  await db.execute(sql`delete from sign_in_links where ${ofOrg}`)
  await db.execute(sql`delete from step_up_tokens where ${ofOrg}`)
  await db.execute(sql`
    delete from sign_in_verifications where value = ${userId}::text and reach @> array[${orgId}::uuid]`)
  await db.execute(sql`update two_factors set ${takenFrom(orgId)} where ${ofOrg}`)
  await db.execute(sql`update sign_in_accounts set ${takenFrom(orgId)} where ${ofOrg}`)
  await db.execute(sql`update sign_in_sessions set ${takenFrom(orgId)} where ${ofOrg}`)
  await db.execute(sql`delete from sign_in_sessions where user_id = ${userId} and reach = '{}'`)
  await db.execute(sql`delete from sign_in_accounts where user_id = ${userId} and reach = '{}'`)
  await db.execute(sql`delete from two_factors where user_id = ${userId} and reach = '{}'`)
}

export const deleteSessionsOfNobodysMember = (db: Db, userId: string) =>
  db.execute(sql`
    -- all orgs: the person may still belong to another one
    delete from sign_in_sessions
    where user_id = ${userId} and not exists (select from members where user_id = ${userId})`)

/** What went wrong before a sign-in, as its session tells the person. */
export interface FailedSignIns {
  count: number
  lastAt: string
  /** The last five that were different. */
  addresses: string[]
}

export interface AccountRow extends PersonRow {
  hasPassword: boolean
  twoFactorEnabled: boolean
  failedSignIns: FailedSignIns | null
  orgs: { id: string; name: string; role: Role }[]
}

/** The person behind a session, with the orgs that it opens, longest first; they are called what the first one calls them. */
export const findAccount = (db: Db, sessionId: string) =>
  db.row<AccountRow>(sql`
    -- all orgs: those of one person, for that person
    select u.id, u.email, s.failed_sign_ins,
      -- What one org called them is not for the link of another one to tell.
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
        select json_agg(json_build_object('id', o.id, 'name', o.name, 'role', m.role) order by m.created_at, m.id) as orgs,
          (array_agg(m.name order by m.created_at, m.id))[1] as name
        from members m join orgs o on o.id = m.org_id
        where m.user_id = s.user_id and (s.reach is null or m.org_id = any(s.reach))
      ) opened on true
    where s.id = ${sessionId}`)

export const insertStepUpToken = (db: Db, hash: Buffer, userId: string, reach: Reach) =>
  db.row<{ expiresAt: string }>(sql`
    with expired as (delete from step_up_tokens where user_id = ${userId} and expires_at <= now())
    insert into step_up_tokens (hash, user_id, reach, expires_at)
    values (${hash}, ${userId}, ${reach}, now() + interval '10 minutes')
    returning expires_at`)

export const isStepUpToken = async (db: Db, hash: Buffer, userId: string, orgId: string): Promise<boolean> => {
  const row = await db.row<{ userId: string }>(sql`
    select user_id from step_up_tokens
    where hash = ${hash} and user_id = ${userId} and (reach is null or ${orgId}::uuid = any(reach))
      and expires_at > now()`)
  return row !== undefined
}

/** Those that are good for orgs of the scope and for no others. */
export const deleteStepUpTokens = (db: Db, userId: string, reach: Reach) =>
  db.execute(sql`
    delete from step_up_tokens
    where user_id = ${userId} and (${reach}::uuid[] is null or reach <@ ${reach}::uuid[])`)

/** One link at a time of each who makes them: an older one of the same reach ends; one for all orgs ends every other. */
export const replaceSignInLink = (db: Db, hash: Buffer, userId: string, reach: Reach) =>
  db.row<{ expiresAt: string }>(sql`
    with older as (
      delete from sign_in_links
      where (user_id = ${userId} and (${reach}::uuid[] is null or reach = ${reach}::uuid[])) or expires_at <= now())
    insert into sign_in_links (hash, user_id, reach, expires_at)
    values (${hash}, ${userId}, ${reach}, now() + interval '24 hours')
    returning expires_at`)

/** Uses the link up. Undefined when it is unknown, used or expired. */
export const consumeSignInLink = (db: Db, hash: Buffer) =>
  db.row<{ userId: string; reach: Reach }>(sql`
    delete from sign_in_links where hash = ${hash} and expires_at > now() returning user_id, reach`)

/** Marks the code of this time step, and with it all older ones, as used. 0 when one as new was used before. */
export const useTotpStep = (db: Db, factorId: string, step: number) =>
  db.execute(sql`
    update two_factors set last_step = ${step}, failed_verification_count = 0, locked_until = null
    where id = ${factorId} and last_step < ${step}`)

/** Ten wrong codes in a row lock the second factor for 15 minutes, as they do at sign-in. */
export const countWrongTotp = (db: Db, factorId: string) =>
  db.execute(sql`
    update two_factors set
      failed_verification_count = case when locked_until <= now() then 1 else failed_verification_count + 1 end,
      locked_until = case
        when locked_until <= now() then null
        when failed_verification_count >= 9 then now() + interval '15 minutes'
        else locked_until end
    where id = ${factorId}`)

/** All second factors of the person, whatever their scope. */
export const deleteTwoFactors = (db: Db, userId: string) =>
  db.execute(sql`delete from two_factors where user_id = ${userId}`)

/** The second factor that is asked for in this org. Undefined when there is none. */
export const deleteTwoFactor = (db: Db, userId: string, orgId: string) =>
  db.row<{ reach: Reach }>(sql`
    delete from two_factors
    where user_id = ${userId} and verified and (reach is null or ${orgId}::uuid = any(reach))
    returning reach`)

export interface FactorRow {
  id: string
  secret: string
}

/** The second factor that covers the scope. */
export const findTwoFactor = (db: Db, userId: string, reach: Reach) =>
  db.row<FactorRow>(sql`
    select id, secret from two_factors
    where user_id = ${userId} and (reach is null or reach @> ${reach}::uuid[])`)

export interface LockableFactorRow extends FactorRow {
  lockedUntil: string | null
}

/** The confirmed second factor that goes with a password. */
export const findFactorOfPassword = (db: Db, password: PasswordRow) =>
  db.row<LockableFactorRow>(sql`
    select id, secret, case when locked_until > now() then locked_until end as locked_until from two_factors
    where user_id = ${password.userId} and verified and (reach is null or reach @> ${password.reach}::uuid[])`)

/** Keeps on the session what went wrong since the person last signed in within its scope, and begins to count anew. */
export const noteSignIn = async (db: Db, userId: string, token: string, reach: Reach): Promise<void> => {
  const within = sql`user_id = ${userId} and (${reach}::uuid[] is null or reach <@ ${reach}::uuid[])`
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
