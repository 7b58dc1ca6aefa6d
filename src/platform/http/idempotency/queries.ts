import { sql } from '../../database/database.ts'
import type { Db } from '../../database/database.ts'

/** Whose key it is, and for what. */
export interface KeyScope {
  orgId: string
  userId: string
  method: string
  /** The pattern, such as `/api/v1/files/:id`; the URL itself is in the fingerprint. */
  route: string
  key: string
}

export interface KeyRow {
  state: 'running' | 'committed' | 'done'
  claim: string
  fingerprint: Buffer | null
  isClaimed: boolean
  isExpired: boolean
  status: number | null
  headers: Record<string, string> | null
  body: string | null
}

const scoped = (scope: KeyScope) =>
  sql`org_id = ${scope.orgId} and user_id = ${scope.userId} and method = ${scope.method} and route = ${scope.route} and key = ${scope.key}`

const until = (seconds: number) => sql`clock_timestamp() + ${seconds} * interval '1 second'`

/** True when the key was free and is now claimed. */
export const insertClaim = async (
  db: Db,
  scope: KeyScope,
  claim: string,
  fingerprint: Buffer | null,
  claimSeconds: number,
): Promise<boolean> =>
  (await db.execute(sql`
    insert into idempotency_keys (org_id, user_id, method, route, key, fingerprint, state, claim, claimed_until)
    values (${scope.orgId}, ${scope.userId}, ${scope.method}, ${scope.route}, ${scope.key}, ${fingerprint}, 'running',
      ${claim}, ${until(claimSeconds)})
    on conflict do nothing`)) > 0

export const findKey = (db: Db, scope: KeyScope) =>
  db.row<KeyRow>(sql`
    select state, claim, fingerprint, claimed_until > now() as is_claimed, created_at < now() - interval '24 hours' as is_expired,
      status, headers, body
    from idempotency_keys where ${scoped(scope)}`)

/** Takes over the key from the claim `from`; false when somebody else did, or when its work was committed meanwhile. */
export const replaceClaim = async (
  db: Db,
  scope: KeyScope,
  from: { claim: string; state: KeyRow['state'] },
  claim: string,
  fingerprint: Buffer | null,
  claimSeconds: number,
): Promise<boolean> =>
  (await db.execute(sql`
    update idempotency_keys
    set state = 'running', claim = ${claim}, claimed_until = ${until(claimSeconds)}, fingerprint = ${fingerprint},
      status = null, headers = null, body = null, created_at = now()
    where ${scoped(scope)} and claim = ${from.claim} and state = ${from.state}
      and (claimed_until < now() or state <> 'running')`)) > 0

export const renewClaim = async (db: Db, scope: KeyScope, claim: string, claimSeconds: number): Promise<boolean> =>
  (await db.execute(sql`
    update idempotency_keys set claimed_until = ${until(claimSeconds)}
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)) > 0

/** The mark of the work, in the work's own transaction. False when the claim was lost. */
export const markCommitted = async (
  db: Db,
  scope: KeyScope,
  claim: string,
  fingerprint: Buffer | null,
): Promise<boolean> =>
  (await db.execute(sql`
    update idempotency_keys set state = 'committed', fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)) > 0

/** The work is done, and its answer was one that cannot be kept. */
export const endClaim = (db: Db, scope: KeyScope, claim: string, fingerprint: Buffer | null) =>
  db.execute(sql`
    update idempotency_keys
    set state = 'committed', claimed_until = now(), fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)

export const storeAnswer = (
  db: Db,
  scope: KeyScope,
  claim: string,
  fingerprint: Buffer | null,
  answer: { status: number; headers: Record<string, string>; body: string },
) =>
  db.execute(sql`
    update idempotency_keys
    set state = 'done', status = ${answer.status}, headers = ${JSON.stringify(answer.headers)}, body = ${answer.body},
      fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)

/** Frees the key, unless work was done under it. */
export const deleteUnused = (db: Db, scope: KeyScope, claim: string) =>
  db.execute(sql`delete from idempotency_keys where ${scoped(scope)} and claim = ${claim} and state = 'running'`)

export const deleteExpired = (db: Db, limit: number) =>
  db.execute(sql`
    -- all orgs: a key's 24 hours are the same everywhere
    delete from idempotency_keys where ctid in (
      select ctid from idempotency_keys where created_at < now() - interval '24 hours' limit ${limit})`)
