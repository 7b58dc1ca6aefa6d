import { sql } from '../../../platform/database/database.ts'
import type { Db } from '../../../platform/database/database.ts'
import type { OrgScope } from '../org-scope.ts'
import type { PasswordRow } from '../queries.ts'

// Second factors and step-up tokens belong to people, not orgs, so their tables have no org_id.

export interface ProofsRow {
  passwordId: string | null
  passwordHash: string | null
  passwordScope: OrgScope
  factorId: string | null
  totpScope: OrgScope
}

/** The password and the confirmed second factor of a person in this org. */
export const findProofs = (db: Db, userId: string, orgId: string) =>
  db.row<ProofsRow>(sql`
    select a.id as password_id, a.password as password_hash, a.reach as password_scope,
      t.id as factor_id, t.reach as totp_scope
    from users u
      left join sign_in_accounts a on a.user_id = u.id and a.provider_id = 'credential'
        and (a.reach is null or ${orgId}::uuid = any(a.reach))
      left join two_factors t on t.user_id = u.id and t.verified and (t.reach is null or ${orgId}::uuid = any(t.reach))
    where u.id = ${userId}
    limit 1`)

export const insertStepUpToken = (db: Db, hash: Buffer, userId: string, orgScope: OrgScope) =>
  db.row<{ expiresAt: string }>(sql`
    with expired as (delete from step_up_tokens where user_id = ${userId} and expires_at <= now())
    insert into step_up_tokens (hash, user_id, reach, expires_at)
    values (${hash}, ${userId}, ${orgScope}, now() + interval '10 minutes')
    returning expires_at`)

export const isStepUpToken = async (db: Db, hash: Buffer, userId: string, orgId: string): Promise<boolean> => {
  const row = await db.row<{ userId: string }>(sql`
    select user_id from step_up_tokens
    where hash = ${hash} and user_id = ${userId} and (reach is null or ${orgId}::uuid = any(reach))
      and expires_at > now()`)
  return row !== undefined
}

/** Deletes the tokens whose scope has only orgs of `orgScope`. */
export const deleteStepUpTokens = (db: Db, userId: string, orgScope: OrgScope) =>
  db.execute(sql`
    delete from step_up_tokens
    where user_id = ${userId} and (${orgScope}::uuid[] is null or reach <@ ${orgScope}::uuid[])`)

/** Marks the code of this time step and all older ones as used. 0 when it or a later one was used before. */
export const useTotpStep = (db: Db, factorId: string, step: number) =>
  db.execute(sql`
    update two_factors set last_step = ${step}, failed_verification_count = 0, locked_until = null
    where id = ${factorId} and last_step < ${step}`)

/** Ten wrong codes in a row lock the second factor for 15 minutes, as at sign-in. */
export const countWrongTotp = (db: Db, factorId: string) =>
  db.execute(sql`
    update two_factors set
      failed_verification_count = case when locked_until <= now() then 1 else failed_verification_count + 1 end,
      locked_until = case
        when locked_until <= now() then null
        when failed_verification_count >= 9 then now() + interval '15 minutes'
        else locked_until end
    where id = ${factorId}`)

/** Deletes the second factors of all scopes. */
export const deleteTwoFactors = (db: Db, userId: string) =>
  db.execute(sql`delete from two_factors where user_id = ${userId}`)

/** Deletes the second factor of this org. Undefined when there is none. */
export const deleteTwoFactor = (db: Db, userId: string, orgId: string) =>
  db.row<{ orgScope: OrgScope }>(sql`
    delete from two_factors
    where user_id = ${userId} and verified and (reach is null or ${orgId}::uuid = any(reach))
    returning reach as org_scope`)

export interface FactorRow {
  id: string
  secret: string
}

/** The second factor that covers the scope. */
export const findTwoFactor = (db: Db, userId: string, orgScope: OrgScope) =>
  db.row<FactorRow & { isVerified: boolean }>(sql`
    select id, secret, verified as is_verified from two_factors
    where user_id = ${userId} and (reach is null or reach @> ${orgScope}::uuid[])`)

/** Locks the second factor until the transaction ends. */
export const lockTwoFactor = (db: Db, factorId: string) =>
  db.row<FactorRow & { isLocked: boolean }>(sql`
    select id, secret, coalesce(locked_until > now(), false) as is_locked from two_factors
    where id = ${factorId}
    for update`)

/** The confirmed second factor that covers the scope of the password. */
export const findFactorOfPassword = (db: Db, password: PasswordRow) =>
  db.row<{ id: string }>(sql`
    select id from two_factors
    where user_id = ${password.userId} and verified and (reach is null or reach @> ${password.orgScope}::uuid[])`)
