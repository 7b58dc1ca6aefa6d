import { sql } from '../platform/database.ts'
import type { Db, Sql } from '../platform/database.ts'
import type { Role } from './permissions.ts'
import type { Reach } from './reach.ts'

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
  passwordHash: string | null
  passwordReach: Reach
  totpSecret: string | null
  totpReach: Reach
  lockedUntil: string | null
}

/** What a person can prove themselves with. A second factor counts once it was confirmed. */
export const findProofs = (db: Db, userId: string) =>
  db.row<ProofsRow>(sql`
    select a.password as password_hash, a.reach as password_reach, t.secret as totp_secret, t.reach as totp_reach,
      case when t.locked_until > now() then t.locked_until end as locked_until
    from users u
      left join sign_in_accounts a on a.user_id = u.id and a.provider_id = 'credential'
      left join two_factors t on t.user_id = u.id and t.verified
    where u.id = ${userId}`)

export const findPasswordByEmail = (db: Db, email: string) =>
  db.row<{ userId: string; passwordHash: string | null }>(sql`
    select u.id as user_id, a.password as password_hash
    from users u left join sign_in_accounts a on a.user_id = u.id and a.provider_id = 'credential'
    where u.email = ${email}`)

/** The password's hash and its reach, which then stay as they are until the transaction ends. */
export const holdPassword = (db: Db, userId: string) =>
  db.row<{ passwordHash: string | null; reach: Reach }>(sql`
    select password as password_hash, reach from sign_in_accounts
    where user_id = ${userId} and provider_id = 'credential'
    for share`)

/** For all orgs of the person. */
export const upsertPassword = (db: Db, id: string, userId: string, hash: string) =>
  db.execute(sql`
    insert into sign_in_accounts (id, user_id, provider_id, account_id, password)
    values (${id}, ${userId}, 'credential', ${userId}, ${hash})
    on conflict (user_id, provider_id) do update set password = excluded.password, reach = null, updated_at = now()`)

export const deleteSessions = (db: Db, userId: string) =>
  db.execute(sql`delete from sign_in_sessions where user_id = ${userId}`)

/** The password and every session of the person open these orgs from now on. */
export const setReach = (db: Db, userId: string, reach: Reach) =>
  db.execute(sql`
    with sessions as (update sign_in_sessions set reach = ${reach} where user_id = ${userId})
    update sign_in_accounts set reach = ${reach} where user_id = ${userId}`)

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
  const passwords = await db.execute(sql`delete from sign_in_accounts where user_id = ${userId} and reach = '{}'`)
  if (passwords > 0) await deleteTwoFactor(db, userId)
}

export const deleteSessionsOfNobodysMember = (db: Db, userId: string) =>
  db.execute(sql`
    -- all orgs: the person may still belong to another one
    delete from sign_in_sessions
    where user_id = ${userId} and not exists (select from members where user_id = ${userId})`)

export interface AccountRow extends PersonRow {
  hasPassword: boolean
  twoFactorEnabled: boolean
  orgs: { id: string; name: string; role: Role }[]
}

/** The person behind a session, with the orgs that it opens, longest first; they are called what the first one calls them. */
export const findAccount = (db: Db, sessionId: string) =>
  db.row<AccountRow>(sql`
    -- all orgs: those of one person, for that person
    select u.id, u.email, coalesce(opened.name, u.name) as name, u.two_factor_enabled,
      exists (select from sign_in_accounts a where a.user_id = u.id and a.password is not null) as has_password,
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

export const deleteStepUpTokens = (db: Db, userId: string) =>
  db.execute(sql`delete from step_up_tokens where user_id = ${userId}`)

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
export const useTotpStep = (db: Db, userId: string, step: number) =>
  db.execute(sql`
    update two_factors set last_step = ${step}, failed_verification_count = 0, locked_until = null
    where user_id = ${userId} and last_step < ${step}`)

/** Ten wrong codes in a row lock the second factor for 15 minutes, as they do at sign-in. */
export const countWrongTotp = (db: Db, userId: string) =>
  db.execute(sql`
    update two_factors set
      failed_verification_count = case when locked_until <= now() then 1 else failed_verification_count + 1 end,
      locked_until = case
        when locked_until <= now() then null
        when failed_verification_count >= 9 then now() + interval '15 minutes'
        else locked_until end
    where user_id = ${userId}`)

export const deleteTwoFactor = async (db: Db, userId: string): Promise<number> => {
  await db.execute(sql`update users set two_factor_enabled = false, updated_at = now() where id = ${userId}`)
  return db.execute(sql`delete from two_factors where user_id = ${userId}`)
}

export const findTwoFactor = (db: Db, userId: string) =>
  db.row<{ secret: string }>(sql`select secret from two_factors where user_id = ${userId}`)

export const deleteExpired = (db: Db) =>
  db.execute(sql`
    with
      sessions as (delete from sign_in_sessions where expires_at <= now()),
      verifications as (delete from sign_in_verifications where expires_at <= now()),
      links as (delete from sign_in_links where expires_at <= now())
    delete from step_up_tokens where expires_at <= now()`)
