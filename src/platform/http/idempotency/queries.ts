import { sql } from '../../database/database.ts'
import type { Db } from '../../database/database.ts'

/** The caller and the route that a key belongs to. */
export interface KeyScope {
  orgId: string
  userId: string
  method: string
  /** The pattern, such as `/api/v1/files/:id`. The URL itself is part of the fingerprint. */
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

export interface NewKeyClaim {
  claim: string
  /** Null until the body of the request is known. */
  fingerprint: Buffer | null
  claimSeconds: number
}

const scoped = (scope: KeyScope) =>
  sql`org_id = ${scope.orgId} and user_id = ${scope.userId} and method = ${scope.method} and route = ${scope.route} and key = ${scope.key}`

const until = (seconds: number) => sql`statement_timestamp() + ${seconds} * interval '1 second'`

/** True when the key was free and is now claimed. */
export const insertClaim = async (
  db: Db,
  scope: KeyScope,
  { claim, fingerprint, claimSeconds }: NewKeyClaim,
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

/** Takes over the key from the claim `from`. False when another request did, or when the work was committed. */
export const replaceClaim = async (
  db: Db,
  scope: KeyScope,
  from: { claim: string; state: KeyRow['state'] },
  { claim, fingerprint, claimSeconds }: NewKeyClaim,
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

/** Marks the key in the transaction of the work. False when the claim was lost. */
export const markCommitted = async (
  db: Db,
  scope: KeyScope,
  claim: string,
  fingerprint: Buffer | null,
): Promise<boolean> =>
  (await db.execute(sql`
    update idempotency_keys set state = 'committed', fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)) > 0

/** Ends a claim whose work is done and whose response is not stored. */
export const endClaim = (db: Db, scope: KeyScope, claim: string, fingerprint: Buffer | null) =>
  db.execute(sql`
    update idempotency_keys
    set state = 'committed', claimed_until = now(), fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)

export const storeResponse = (
  db: Db,
  scope: KeyScope,
  { claim, fingerprint }: Pick<NewKeyClaim, 'claim' | 'fingerprint'>,
  response: { status: number; headers: Record<string, string>; body: string },
) =>
  db.execute(sql`
    update idempotency_keys
    set state = 'done', status = ${response.status}, headers = ${JSON.stringify(response.headers)}, body = ${response.body},
      fingerprint = coalesce(${fingerprint}, fingerprint)
    where ${scoped(scope)} and claim = ${claim} and state in ('running', 'committed')`)

/** Frees the key unless work was committed under it. */
export const deleteUnused = (db: Db, scope: KeyScope, claim: string) =>
  db.execute(sql`delete from idempotency_keys where ${scoped(scope)} and claim = ${claim} and state = 'running'`)

export const deleteExpired = (db: Db, limit: number) =>
  db.execute(sql`
    -- all orgs: keys of every org expire after 24 hours
    delete from idempotency_keys where (org_id, user_id, method, route, key) in (
      select org_id, user_id, method, route, key from idempotency_keys
      where created_at < now() - interval '24 hours' limit ${limit})`)
