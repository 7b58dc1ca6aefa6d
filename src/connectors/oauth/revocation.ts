import { setTimeout as delay } from 'node:timers/promises'
import { claimLease } from '../../platform/database/lease.ts'
import { catalog } from '../catalog/catalog.ts'
import type { ConnectionRef } from '../connections/access.ts'
import { leasedConnection } from '../connections/queries.ts'
import type { SecretsRow } from '../connections/queries.ts'
import { openSecrets } from '../connections/secrets.ts'
import type { AccessDeps } from '../deps.ts'
import { revokeGrant } from './client.ts'
import * as queries from './revocation-queries.ts'
import type { RevocationOutcome } from './revocation-queries.ts'

/** A revocation request times out after 15 s. */
const revocationLease = { leaseMs: 25_000, renewMs: 10_000 }
/** How long `DELETE /connections/:id` waits for the provider before it responds with `pending`. */
const responseDeadlineMs = 5_000

/**
 * Revokes the grant of a revoked connection at its provider, unless another worker does it or it is done. Throws the
 * provider's error so that the job is retried; with `isLast` the revocation ends as `failed`.
 */
export const revokeStoredGrant = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<void> => {
  const { db } = deps
  const options = { ...queries.revocationClaim, timing: revocationLease }
  const claim = await claimLease<SecretsRow>(db, leasedConnection(ref), options)
  if (!claim) return
  const { row, token } = claim
  deps.onFaultPoint?.('before-revocation')
  const connector = catalog.get(row.connectorSlug)
  try {
    let outcome: RevocationOutcome = 'unsupported'
    if (connector && row.secrets !== null) {
      const secrets = openSecrets(deps.secrets, row, row.secrets)
      outcome = await revokeGrant(deps, { orgId: ref.orgId, connector, secrets })
    }
    await queries.endRevocation(db, ref, token, outcome)
  } catch (error) {
    if (isLast) await queries.endRevocation(db, ref, token, 'failed')
    else await queries.releaseRevocation(db, ref, token)
    throw error
  }
}

/** Makes the first attempt within the request of the user, and returns the outcome so far. The job makes the others. */
export const tryRevocation = async (deps: AccessDeps, ref: ConnectionRef): Promise<'pending' | RevocationOutcome> => {
  const attempt = revokeStoredGrant(deps, ref).catch((error: unknown) => {
    deps.log.warn({ err: error, connectionId: ref.id }, 'a grant could not be revoked at its provider yet')
  })
  await Promise.race([attempt, delay(responseDeadlineMs, undefined, { ref: false })])
  const row = await queries.findRevocation(deps.db, ref)
  return row?.providerRevocation ?? 'pending'
}
