import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { claimLease } from '../../platform/database/lease.ts'
import type { Claim } from '../../platform/database/lease.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { catalog } from '../catalog/catalog.ts'
import type { ConnectionRef } from '../connections/access.ts'
import { leasedConnection } from '../connections/queries.ts'
import type { SecretsRow } from '../connections/queries.ts'
import { openSecrets } from '../connections/secrets.ts'
import type { AccessDeps, AttemptForOrg } from '../deps.ts'
import { revokeGrant } from './client.ts'
import { revokeAtProvider } from './revocation-job.ts'
import * as queries from './revocation-queries.ts'
import type { RevocationOutcome } from './revocation-queries.ts'

/** A revocation request times out after 15 s. */
const revocationLease = { leaseMs: 25_000, renewMs: 10_000 }
/** How long `DELETE /connections/:id` waits for the provider before it responds with `pending`. */
const responseDeadlineMs = 5_000

const claimRevocation = (db: Database, ref: ConnectionRef) =>
  claimLease<SecretsRow>(db, leasedConnection(ref), { ...queries.revocationClaim, timing: revocationLease })

/** Revokes the grant under the lease. Throws the provider's error; with `isLast` the revocation ends as `failed`. */
const revokeClaimed = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  { row, token }: Claim<SecretsRow>,
  isLast: boolean,
): Promise<void> => {
  const { db } = deps
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

/**
 * Handles the job: revokes the grant of a revoked connection at its provider. Throws the provider's error so that the job
 * is retried. Waits for the lease of another worker, because that one may have been killed: its lease lasts longer than
 * its job takes to start elsewhere.
 */
export const revokeStoredGrant = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  { isLast, signal }: { isLast: boolean; signal: AbortSignal },
): Promise<void> => {
  for (;;) {
    const claim = await claimRevocation(deps.db, ref)
    if (claim) return revokeClaimed(deps, ref, claim, isLast)
    const row = await queries.findRevocation(deps.db, ref)
    if (row?.providerRevocation !== 'pending') return
    await delay(Math.max(100, row.leaseLeftMs ?? 0), undefined, { signal })
  }
}

const sweepPage = 1_000

/** Enqueues the pending revocations that have no job. */
export const sweepPending = async (
  deps: Pick<AccessDeps, 'db'>,
  jobs: Pick<Jobs, 'unattended' | 'enqueue'>,
  attempt: AttemptForOrg,
): Promise<void> => {
  let page: ConnectionRef[] = []
  do {
    page = await queries.listPending(deps.db, sweepPage, page.at(-1))
    if (page.length === 0) return
    for (const ref of await jobs.unattended(revokeAtProvider, page)) {
      await attempt(ref.orgId, () => deps.db.transaction(ref, (db) => jobs.enqueue(db, revokeAtProvider, ref)))
    }
  } while (page.length === sweepPage)
}

/** Makes the first attempt within the request of the user, and returns the outcome so far. The job makes the others. */
export const tryRevocation = async (deps: AccessDeps, ref: ConnectionRef): Promise<'pending' | RevocationOutcome> => {
  const revoke = async (): Promise<void> => {
    const claim = await claimRevocation(deps.db, ref)
    if (claim) await revokeClaimed(deps, ref, claim, false)
  }
  const attempt = revoke().catch((error: unknown) => {
    deps.log.warn({ err: error, connectionId: ref.id }, 'a grant could not be revoked at its provider yet')
  })
  await Promise.race([attempt, delay(responseDeadlineMs, undefined, { ref: false })])
  const row = await queries.findRevocation(deps.db, ref)
  return row?.providerRevocation ?? 'pending'
}
