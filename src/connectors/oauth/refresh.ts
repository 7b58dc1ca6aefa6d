import { setTimeout as delay } from 'node:timers/promises'
import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { conflict, serviceUnavailable } from '../../platform/http/errors.ts'
import { claimLease } from '../../platform/database/lease.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { catalog } from '../catalog/catalog.ts'
import { openSecrets, sealSecrets } from '../connections/secrets.ts'
import type { Connector } from '../catalog/definition.ts'
import { renewGrant, revokeGrant } from './client.ts'
import type { Grant } from './client.ts'
import { ProviderError } from '../connections/provider.ts'
import type { Access, ProviderDeps } from '../connections/provider.ts'
import * as queries from './refresh-queries.ts'
import { findSecrets } from '../queries.ts'
import type { SecretsRow } from '../queries.ts'

export interface AccessDeps extends ProviderDeps {
  db: Database
  log: Log
  secrets: Sealer
  /** For tests that stop the world where it hurts. */
  onMoment?: (moment: 'after-exchange' | 'after-renewal' | 'before-revocation') => void
}

/** Which connection, as work in the background names it. */
export interface ConnectionRef {
  orgId: string
  id: string
}

/** With what a connection speaks to its provider right now. */
export interface FreshAccess extends Access {
  ref: ConnectionRef
  secretsVersion: number
}

/** A token endpoint answers within 15 s or not at all. */
const refreshLease = { leaseMs: 30_000, renewMs: 10_000 }
const waitMs = 25_000
const stepMs = 100

/** The connector of a connection. One that was taken out of the catalog leaves connections that cannot be used. */
export const connectorOf = (slug: string): Connector => {
  const connector = catalog.get(slug)
  if (!connector) throw conflict('The connector of this connection is gone from this server.')
  return connector
}

const open = ({ secrets: sealer }: AccessDeps, row: SecretsRow): FreshAccess => ({
  orgId: row.orgId,
  ref: { orgId: row.orgId, id: row.id },
  connector: connectorOf(row.connectorSlug),
  secrets: row.secrets === null ? {} : openSecrets(sealer, row, row.secrets),
  accountId: row.accountId,
  secretsVersion: row.secretsVersion,
})

/** Marks the connection as broken, and says so in the audit log, unless its secrets are others by now. */
export const breakConnection = (
  { db }: Pick<AccessDeps, 'db'>,
  { ref: { orgId, id }, secretsVersion, connector }: FreshAccess,
  reason: string,
): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    if (!(await queries.markBroken(db, orgId, id, secretsVersion, reason))) return
    await audit(
      db,
      systemActor(orgId, 'Atrium'),
      'connection.broken',
      { type: 'connection', id },
      { connector: connector.slug },
    )
  })

/** The connection was revoked while its token was being renewed: the new one must not outlive it. */
const giveBack = async (deps: AccessDeps, { ref, connector }: FreshAccess, grant: Grant): Promise<void> => {
  const row = await findSecrets(deps.db, ref.orgId, ref.id)
  // Connected anew: to many providers that is the same grant.
  if (row) return
  await revokeGrant(deps, { orgId: ref.orgId, connector, secrets: grant.secrets }).catch((error: unknown) => {
    deps.log.warn({ err: error, connectionId: ref.id }, 'a renewed grant could not be given back')
  })
}

const failRenewal = async (
  deps: AccessDeps,
  access: FreshAccess,
  leaseToken: string,
  error: unknown,
): Promise<void> => {
  const { orgId, id } = access.ref
  deps.log.warn({ err: error, connectionId: id, connector: access.connector.slug }, 'a token could not be renewed')
  if (error instanceof ProviderError && error.failure === 'rejected') {
    await breakConnection(deps, access, `${access.connector.name} does not accept the grant any more. Connect again.`)
  } else {
    await queries.postponeRenewal(deps.db, orgId, id, leaseToken)
  }
}

/** Renews the token, unless somebody else is at it or has done so. */
const renew = async (deps: AccessDeps, { orgId, id }: ConnectionRef): Promise<void> => {
  const options = { ...queries.refreshClaim, timing: refreshLease }
  const claim = await claimLease<SecretsRow>(deps.db, queries.leasedConnection(orgId, id), options)
  if (!claim) return
  const access = open(deps, claim.row)
  let grant: Grant
  try {
    grant = await renewGrant(deps, access)
  } catch (error) {
    await failRenewal(deps, access, claim.token, error)
    return
  }
  deps.onMoment?.('after-renewal')
  const secrets = sealSecrets(deps.secrets, access.ref, grant.secrets)
  const stored = await queries.storeRenewed(deps.db, orgId, id, claim.token, { ...grant, secrets })
  if (!stored) await giveBack(deps, access, grant)
}

const renewing = new WeakMap<Database, Map<string, Promise<void>>>()

/** One renewal, or one wait for that of another process, for all callers of this process. */
const renewTogether = (deps: AccessDeps, ref: ConnectionRef): Promise<void> => {
  const inProcess = renewing.get(deps.db) ?? new Map<string, Promise<void>>()
  renewing.set(deps.db, inProcess)
  const key = `${ref.orgId}/${ref.id}`
  const begun = inProcess.get(key) ?? renew(deps, ref).finally(() => inProcess.delete(key))
  inProcess.set(key, begun)
  return begun
}

const usable = (row: SecretsRow | undefined): SecretsRow => {
  if (!row) throw conflict('The connection was revoked.')
  if (row.status !== 'active') throw conflict(row.lastError ?? 'The connection is not complete.')
  return row
}

/**
 * What the connection shows its provider, its token renewed where that is due: by one caller of all processes, the others
 * wait for it. CONFLICT when it is revoked, broken or not complete; SERVICE_UNAVAILABLE when its token has ended and the
 * provider gives no other right now.
 */
export const freshAccess = async (deps: AccessDeps, ref: ConnectionRef): Promise<FreshAccess> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const row = usable(await findSecrets(deps.db, ref.orgId, ref.id))
    if (!row.isDue) {
      if (!row.isOver) return open(deps, row)
      throw serviceUnavailable(`${connectorOf(row.connectorSlug).name} gave no new token. Try again in a minute.`)
    }
    await renewTogether(deps, ref)
    const next = usable(await findSecrets(deps.db, ref.orgId, ref.id))
    // Still due: another process is at it.
    if (!next.isDue) continue
    if (performance.now() > deadline) {
      throw serviceUnavailable(
        `The token of ${connectorOf(row.connectorSlug).name} is being renewed. Try again shortly.`,
      )
    }
    await delay(stepMs)
  }
}

/** The same with a token that is not the one that was just refused. */
export const renewedAccess = async (deps: AccessDeps, refused: FreshAccess): Promise<FreshAccess> => {
  const { orgId, id } = refused.ref
  await queries.demandRenewal(deps.db, orgId, id, refused.secretsVersion)
  return freshAccess(deps, refused.ref)
}
