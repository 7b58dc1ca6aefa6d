import { setTimeout as delay } from 'node:timers/promises'
import { claimLease } from '../../platform/database/lease.ts'
import { catalog } from '../catalog/catalog.ts'
import { openSecrets } from '../connections/secrets.ts'
import { revokeGrant } from './client.ts'
import type { Revocation } from './client.ts'
import * as queries from '../queries.ts'
import type { SecretsRow } from '../queries.ts'
import type { AccessDeps, ConnectionRef } from './refresh.ts'
import { leasedConnection, revocationClaim } from './refresh-queries.ts'

const revocationLease = { leaseMs: 25_000, renewMs: 10_000 }
/** How long the person waits to hear what came of it. */
const patienceMs = 5_000

/**
 * Gives the grant back, unless somebody else is at it or it is done. With `isLast` a failure is the end of it. Throws
 * what the provider's failure was.
 */
export const giveGrantBack = async (
  deps: AccessDeps,
  { orgId, id }: ConnectionRef,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<void> => {
  const { db } = deps
  const options = { ...revocationClaim, timing: revocationLease }
  const claim = await claimLease<SecretsRow>(db, leasedConnection(orgId, id), options)
  if (!claim) return
  const { row, token } = claim
  deps.onMoment?.('before-revocation')
  const connector = catalog.get(row.connectorSlug)
  try {
    let outcome: Revocation = 'unsupported'
    if (connector && row.secrets !== null) {
      const secrets = openSecrets(deps.secrets, row, row.secrets)
      outcome = await revokeGrant(deps, { orgId, connector, secrets })
    }
    await queries.endRevocation(db, orgId, id, token, outcome)
  } catch (error) {
    if (isLast) await queries.endRevocation(db, orgId, id, token, 'failed')
    else await queries.releaseRevocation(db, orgId, id, token)
    throw error
  }
}

/** Tries at once what the job does in the end, and tells what came of it so far. */
export const tryToGiveBack = async (
  deps: AccessDeps,
  ref: ConnectionRef,
): Promise<'pending' | 'revoked' | 'failed' | 'unsupported'> => {
  const trying = giveGrantBack(deps, ref).catch((error: unknown) => {
    deps.log.warn({ err: error, connectionId: ref.id }, 'a grant could not be given back yet')
  })
  await Promise.race([trying, delay(patienceMs, undefined, { ref: false })])
  const row = await queries.findRevocation(deps.db, ref.orgId, ref.id)
  return row?.providerRevocation ?? 'pending'
}
