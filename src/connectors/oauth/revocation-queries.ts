import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LeaseOptions } from '../../platform/database/lease.ts'
import type { ConnectionRef } from '../connections/access.ts'
import { secretsColumns } from '../connections/queries.ts'

export type RevocationOutcome = 'revoked' | 'failed' | 'unsupported'

export const revocationClaim: LeaseOptions = {
  when: sql`status = 'revoked' and provider_revocation = 'pending'`,
  returning: secretsColumns,
}

export const findRevocation = (db: Db, { orgId, id }: ConnectionRef) =>
  db.row<{ providerRevocation: 'pending' | RevocationOutcome | null; leaseLeftMs: number | null }>(sql`
    select provider_revocation,
      (extract(epoch from lease_until - statement_timestamp()) * 1000)::float8 as lease_left_ms
    from connections where org_id = ${orgId} and id = ${id}`)

/** Connections whose grants are not revoked yet, ordered by key, after `after`. */
export const listPending = (db: Db, limit: number, after: ConnectionRef | undefined) =>
  db.rows<ConnectionRef>(sql`
    -- all orgs: an hourly job of the server
    select org_id, id from connections
    where provider_revocation = 'pending'
      and ${after ? sql`(org_id, id) > (${after.orgId}::uuid, ${after.id}::uuid)` : sql`true`}
    order by org_id, id
    limit ${limit}`)

/** Records the outcome and deletes the secrets, under the lease. */
export const endRevocation = (db: Db, { orgId, id }: ConnectionRef, leaseToken: string, outcome: RevocationOutcome) =>
  db.execute(sql`
    update connections
    set provider_revocation = ${outcome}, secrets = null, lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'revoked'`)

/** Ends the lease, so that the next attempt does not wait for it to expire. */
export const releaseRevocation = (db: Db, { orgId, id }: ConnectionRef, leaseToken: string) =>
  db.execute(sql`
    update connections set lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id} and lease_token = ${leaseToken} and status = 'revoked'`)
