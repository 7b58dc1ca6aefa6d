import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LeaseOptions } from '../../platform/database/lease.ts'
import type { ConnectionRef } from '../connections/access.ts'
import { expiresAt, refreshDueAt, secretsColumns } from '../connections/queries.ts'
import type { TokenLifetime } from '../connections/queries.ts'

export const refreshClaim: LeaseOptions = {
  when: sql`status = 'active' and refresh_due_at <= statement_timestamp()`,
  returning: secretsColumns,
}

/**
 * False when the connection was revoked or reconnected in the meantime. A connection that began to wait for the acceptance
 * of changed tools keeps the lease: a provider that rotates tokens no longer accepts the previous one.
 */
export const storeRefreshed = async (
  db: Db,
  { orgId, id }: ConnectionRef,
  leaseToken: string,
  { secrets, scopes, ...lifetime }: { secrets: string; scopes: string[] } & TokenLifetime,
): Promise<boolean> =>
  (await db.execute(sql`
    update connections
    set secrets = ${secrets}, secrets_version = secrets_version + 1, scopes = ${scopes},
      token_expires_at = ${expiresAt(lifetime)}, refresh_due_at = ${refreshDueAt(lifetime)},
      lease_token = null, lease_until = null, last_error = case when status = 'error' then last_error end,
      revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status in ('active', 'error')`)) > 0

/** Time between two refresh attempts while a provider issues no token. */
const retryInterval = sql`interval '30 seconds'`

export const postponeRefresh = (db: Db, { orgId, id }: ConnectionRef, leaseToken: string) =>
  db.execute(sql`
    update connections
    set refresh_due_at = statement_timestamp() + ${retryInterval}, lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status in ('active', 'error')`)

/** Makes a refresh due now, unless the secrets have changed since this version was read. */
export const requireRefresh = (db: Db, { orgId, id }: ConnectionRef, secretsVersion: number) =>
  db.execute(sql`
    update connections set refresh_due_at = statement_timestamp()
    where org_id = ${orgId} and id = ${id} and status = 'active' and secrets_version = ${secretsVersion}
      and (refresh_due_at is null or refresh_due_at > statement_timestamp())`)

/** Sets the status to `error`. Undefined when the connection has other secrets by now. */
export const setBroken = (
  db: Db,
  { orgId, id }: ConnectionRef,
  { secretsVersion, lastError, secrets }: { secretsVersion: number; lastError: string; secrets?: string | undefined },
) =>
  db.row<{ userId: string }>(sql`
    update connections
    set status = 'error', last_error = ${lastError}, lease_token = null, lease_until = null,
      ${secrets === undefined ? sql`` : sql`secrets = ${secrets}, secrets_version = secrets_version + 1,`}
      revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active' and secrets_version = ${secretsVersion}
    returning user_id`)

/** Writes at most once a minute, so that concurrent calls of one connection do not wait for each other's row lock. */
export const touchLastUsed = (db: Db, { orgId, id }: ConnectionRef) =>
  db.execute(sql`
    update connections set last_used_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active'
      and (last_used_at is null or last_used_at < now() - interval '1 minute')`)
