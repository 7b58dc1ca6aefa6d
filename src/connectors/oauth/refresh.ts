import { setTimeout as delay } from 'node:timers/promises'
import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { recordEvent } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import { claimLease } from '../../platform/database/lease.ts'
import type { Claim } from '../../platform/database/lease.ts'
import { conflict, serviceUnavailable } from '../../platform/http/errors.ts'
import { createBackoff } from '../../platform/process/backoff.ts'
import { catalog } from '../catalog/catalog.ts'
import type { Connector } from '../catalog/definition.ts'
import type { ConnectionRef, FreshAccess } from '../connections/access.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { findSecrets, leasedConnection } from '../connections/queries.ts'
import type { SecretsRow } from '../connections/queries.ts'
import { openSecrets, sealSecrets } from '../connections/secrets.ts'
import type { AccessDeps } from '../deps.ts'
import { refreshGrant, revokeGrant } from './client.ts'
import type { Grant } from './client.ts'
import * as queries from './refresh-queries.ts'

/** Longer than a token request, which times out after 15 s. */
const refreshLease = { leaseMs: 30_000, renewMs: 10_000 }
/** How long a caller waits for the refresh of another process. */
const waitMs = 25_000
const pollIntervalMs = 100

/** CONFLICT for a connector that has been removed from the catalog. */
const connectorOf = (slug: string): Connector => {
  const connector = catalog.get(slug)
  if (!connector) throw conflict('This server no longer has the connector of this connection.')
  return connector
}

const toAccess = ({ secrets: sealer }: AccessDeps, row: SecretsRow): FreshAccess => ({
  orgId: row.orgId,
  ref: { orgId: row.orgId, id: row.id },
  connector: connectorOf(row.connectorSlug),
  secrets: row.secrets === null ? {} : openSecrets(sealer, row, row.secrets),
  accountId: row.accountId,
  secretsVersion: row.secretsVersion,
})

/**
 * Marks the connection as broken and audits it, unless its secrets have changed in the meantime. `secrets`, sealed,
 * replace the stored ones.
 */
export const markBroken = (
  { db }: Pick<AccessDeps, 'db'>,
  { ref, secretsVersion, connector }: FreshAccess,
  reason: string,
  secrets?: string,
): Promise<void> =>
  db.transaction(ref, async (db) => {
    const broken = await queries.setBroken(db, ref, { secretsVersion, lastError: reason, secrets })
    if (!broken) return
    const actor = systemActor(ref.orgId, 'Atrium')
    await audit(db, actor, 'connection.broken', {
      type: 'connection',
      id: ref.id,
      details: { connector: connector.slug },
    })
    await recordEvent(db, actor, 'connection.broken', {
      subjectId: ref.id,
      workspaceId: null,
      ownerId: broken.userId,
      data: { connectionId: ref.id, connector: connector.slug, reason: 'credentials' },
    })
  })

/** Revokes a token that arrived after its connection was revoked. */
const revokeLateGrant = async (deps: AccessDeps, { ref, connector }: FreshAccess, grant: Grant): Promise<void> => {
  const row = await findSecrets(deps.db, ref.orgId, ref.id)
  // After a reconnect, many providers use the same grant for the new token, so revoking would end that one, too.
  if (row) return
  await revokeGrant(deps, { orgId: ref.orgId, connector, secrets: grant.secrets }).catch((error: unknown) => {
    deps.log.warn(
      { err: error, connectionId: ref.id },
      'a refreshed grant of a revoked connection could not be revoked',
    )
  })
}

const handleFailedRefresh = async (
  deps: AccessDeps,
  access: FreshAccess,
  leaseToken: string,
  error: unknown,
): Promise<void> => {
  const { ref, connector } = access
  deps.log.warn({ err: error, connectionId: ref.id, connector: connector.slug }, 'a token could not be refreshed')
  if (error instanceof ProviderError && error.failure === 'invalid_credentials') {
    await markBroken(deps, access, `${connector.name} no longer accepts the authorization. Connect again.`)
  } else {
    await queries.postponeRefresh(deps.db, ref, leaseToken)
  }
}

/**
 * Stores a refreshed token; see `storeRefreshed`. Repeats a failed statement while the lease lasts, because a rotated token
 * that is not stored is lost, and the connection with it.
 */
const storeWithRetry = async (
  { db, log }: AccessDeps,
  ref: ConnectionRef,
  { token, claimedAtMs }: Claim<SecretsRow>,
  refreshed: Parameters<typeof queries.storeRefreshed>[3],
): Promise<boolean> => {
  const untilMs = claimedAtMs + refreshLease.leaseMs
  const backoff = createBackoff({ firstMs: 200, maxMs: 2_000 })
  for (;;) {
    try {
      return await queries.storeRefreshed(db, ref, token, refreshed)
    } catch (error) {
      const pauseMs = backoff.next()
      if (performance.now() + pauseMs >= untilMs) throw error
      log.warn({ err: error, connectionId: ref.id }, 'a refreshed token could not be stored yet')
      await delay(pauseMs)
    }
  }
}

/** Refreshes the token if it is due and no other worker is refreshing it. */
const refresh = async (deps: AccessDeps, ref: ConnectionRef): Promise<void> => {
  const options = { ...queries.refreshClaim, timing: refreshLease }
  const claim = await claimLease<SecretsRow>(deps.db, leasedConnection(ref), options)
  if (!claim) return
  const access = toAccess(deps, claim.row)
  let grant: Grant
  try {
    grant = await refreshGrant(deps, access)
  } catch (error) {
    await handleFailedRefresh(deps, access, claim.token, error)
    return
  }
  deps.onFaultPoint?.('after-refresh')
  const secrets = sealSecrets(deps.secrets, access.ref, grant.secrets)
  const stored = await storeWithRetry(deps, ref, claim, { ...grant, secrets })
  if (!stored) await revokeLateGrant(deps, access, grant)
}

const refreshes = new WeakMap<Database, Map<string, Promise<void>>>()

/** Shares one refresh between all callers of this process. */
const refreshOnce = (deps: AccessDeps, ref: ConnectionRef): Promise<void> => {
  const running = refreshes.get(deps.db) ?? new Map<string, Promise<void>>()
  refreshes.set(deps.db, running)
  const key = `${ref.orgId}/${ref.id}`
  const current = running.get(key) ?? refresh(deps, ref).finally(() => running.delete(key))
  running.set(key, current)
  return current
}

const requireActive = (row: SecretsRow | undefined): SecretsRow => {
  if (!row) throw conflict('The connection was revoked.')
  if (row.status !== 'active') throw conflict(row.lastError ?? 'The connection is not complete.')
  return row
}

const noNewToken = ({ name }: Connector): Error =>
  serviceUnavailable(`${name} did not issue a new token. Try again in a minute.`)

/**
 * The current credentials of a connection. A token that is due is refreshed by one caller across all processes, while the
 * others wait; while another process refreshes it, a token that has not expired is used unless it is that of
 * `rejectedVersion`. CONFLICT when the connection is revoked, broken or not complete; SERVICE_UNAVAILABLE when its token has
 * expired and the provider does not issue a new one.
 */
export const freshAccess = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  rejectedVersion?: number,
): Promise<FreshAccess> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const row = requireActive(await findSecrets(deps.db, ref.orgId, ref.id))
    if (!row.isDue) {
      if (!row.isExpired) return toAccess(deps, row)
      throw noNewToken(connectorOf(row.connectorSlug))
    }
    await refreshOnce(deps, ref)
    const next = requireActive(await findSecrets(deps.db, ref.orgId, ref.id))
    if (!next.isDue) continue
    // Still due, so another process is refreshing it, or was killed.
    if (!next.isExpired && next.secretsVersion !== rejectedVersion) return toAccess(deps, next)
    if (performance.now() > deadline) {
      const { name } = connectorOf(row.connectorSlug)
      throw serviceUnavailable(`The token of ${name} is being refreshed. Try again in a few seconds.`)
    }
    await delay(pollIntervalMs)
  }
}

/**
 * Like `freshAccess`, but never with the token of `rejected`: SERVICE_UNAVAILABLE when the provider does not issue a new
 * one.
 */
export const refreshedAccess = async (deps: AccessDeps, rejected: FreshAccess): Promise<FreshAccess> => {
  await queries.requireRefresh(deps.db, rejected.ref, rejected.secretsVersion)
  const access = await freshAccess(deps, rejected.ref, rejected.secretsVersion)
  if (access.secretsVersion === rejected.secretsVersion) throw noNewToken(rejected.connector)
  return access
}
