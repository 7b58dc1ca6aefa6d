import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { ClaimOptions, LeasedRow } from '../../platform/database/lease.ts'
import { refreshDue, secretsColumns, tokenEnd } from '../queries.ts'
import type { Lasting } from '../queries.ts'

export const leasedConnection = (orgId: string, id: string): LeasedRow => ({
  table: sql`connections`,
  row: sql`org_id = ${orgId} and id = ${id}`,
})

/** Taken to renew its token: one that still needs it. */
export const refreshClaim: ClaimOptions = {
  when: sql`status = 'active' and refresh_due_at <= clock_timestamp()`,
  returning: secretsColumns,
}

/** Taken to give its grant back. */
export const revocationClaim: ClaimOptions = {
  when: sql`status = 'revoked' and provider_revocation = 'pending'`,
  returning: secretsColumns,
}

/** False when the connection was revoked or connected anew meanwhile. */
export const storeRenewed = async (
  db: Db,
  orgId: string,
  id: string,
  leaseToken: string,
  { secrets, scopes, ...lasting }: { secrets: string; scopes: string[] } & Lasting,
): Promise<boolean> =>
  (await db.execute(sql`
    update connections
    set secrets = ${secrets}, secrets_version = secrets_version + 1, scopes = ${scopes},
      token_expires_at = ${tokenEnd(lasting)}, refresh_due_at = ${refreshDue(lasting)},
      lease_token = null, lease_until = null, last_error = null, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'active'`)) > 0

/** How long nobody asks a provider again that gave no token. */
const pause = sql`interval '30 seconds'`

export const postponeRenewal = (db: Db, orgId: string, id: string, leaseToken: string) =>
  db.execute(sql`
    update connections set refresh_due_at = clock_timestamp() + ${pause}, lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'active'`)

/** Has the next one who needs the token renew it, unless somebody has since it was read. */
export const demandRenewal = (db: Db, orgId: string, id: string, secretsVersion: number) =>
  db.execute(sql`
    update connections set refresh_due_at = clock_timestamp()
    where org_id = ${orgId} and id = ${id} and status = 'active' and secrets_version = ${secretsVersion}
      and (refresh_due_at is null or refresh_due_at > clock_timestamp())`)

/** Marks that the provider does not take these secrets. False when they are not the connection's any more. */
export const markBroken = async (
  db: Db,
  orgId: string,
  id: string,
  secretsVersion: number,
  lastError: string,
): Promise<boolean> =>
  (await db.execute(sql`
    update connections
    set status = 'error', last_error = ${lastError}, lease_token = null, lease_until = null,
      revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active' and secrets_version = ${secretsVersion}`)) > 0

/** Often enough to be of use, seldom enough that busy connections do not wait for one another. */
export const touch = (db: Db, orgId: string, id: string) =>
  db.execute(sql`
    update connections set last_used_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active'
      and (last_used_at is null or last_used_at < now() - interval '1 minute')`)
