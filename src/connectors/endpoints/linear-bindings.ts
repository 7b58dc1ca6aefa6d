import { systemActor } from '../../identity/actor.ts'
import type { Actor, AuditActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { isAdministrator } from '../../identity/permissions.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound, serviceUnavailable } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { cleanText } from '../../platform/text/text.ts'
import { callConnection } from '../connections/calls.ts'
import * as queries from './linear-binding-queries.ts'
import type { LinearBindingRow } from './linear-binding-queries.ts'
import { findConnection } from '../connections/queries.ts'
import type { AccessDeps } from '../deps.ts'
import { at, textAt } from '../../providers/payload.ts'

const slug = 'linear'
const maxLength = 200

// https://studio.apollographql.com/public/Linear-API/schema: `admin` of User is "Whether the user is an organization
// administrator", `active` "Whether the user account is active".
const proofQuery = 'query { viewer { admin active organization { id name } } }'

interface Proof {
  organizationId: string
  organizationName: string
}

const auditRemoval = async (
  db: Transaction,
  actor: AuditActor,
  row: LinearBindingRow,
  reason: string,
): Promise<void> => {
  const details = { organization: row.organizationName, organizationId: row.organizationId, reason }
  await audit(db, actor, 'linear-binding.removed', { type: 'linear-binding', id: row.id, details })
}

const requireAdministrator = ({ role }: Actor): void => {
  if (!isAdministrator(role)) throw forbidden('Only owners and admins can bind Linear organizations.')
}

/**
 * Reads the user of the connection from Linear. FORBIDDEN unless it is an administrator of the organization,
 * SERVICE_UNAVAILABLE if the response is not as documented.
 */
const proveAdministration = async (deps: AccessDeps, orgId: string, connectionId: string): Promise<Proof> => {
  const request = { method: 'POST', path: '/graphql', json: { query: proofQuery } } as const
  const { body } = await callConnection(deps, { orgId, id: connectionId }, request)
  const viewer = at(body, 'data', 'viewer')
  const organizationId = textAt(viewer, 'organization', 'id')
  if (
    organizationId === undefined ||
    organizationId.length > maxLength ||
    cleanText(organizationId) !== organizationId
  ) {
    throw serviceUnavailable('Linear did not return the organization of the connection. Try again later.')
  }
  const name = textAt(viewer, 'organization', 'name') ?? organizationId
  const organizationName = Array.from(cleanText(name)).slice(0, maxLength).join('')
  if (at(viewer, 'admin') !== true || at(viewer, 'active') !== true) {
    throw forbidden(
      `The Linear account of this connection is not an administrator of the Linear organization ${organizationName}. Connect with the account of an administrator.`,
    )
  }
  return { organizationId, organizationName }
}

/**
 * Binds a Linear organization to this org, which then receives its events. The caller must be an owner or admin of the
 * org, and the caller's own connection proves that its Linear user administers the organization. CONFLICT while it is
 * bound to another org with an active connection.
 */
export const bindLinear = async (deps: AccessDeps, actor: Actor, connectionId: string): Promise<LinearBindingRow> => {
  const { db } = deps
  requireAdministrator(actor)
  const connection = await findConnection(db, actor, connectionId)
  if (!connection) throw notFound('Connection')
  if (connection.connectorSlug !== slug) throw badRequest('connectionId must be the id of a Linear connection')
  const proof = await proveAdministration(deps, actor.orgId, connectionId)
  // All orgs, because a stale binding of another org may have to be deleted.
  return db.transaction('all orgs', async (db) => {
    if (!(await queries.lockActiveConnection(db, actor, connectionId, connection.accountId))) {
      throw conflict('The connection is no longer active, or has another account. Connect Linear again.')
    }
    for (const stale of await queries.deleteStaleBindings(db, proof.organizationId, actor.orgId)) {
      await auditRemoval(db, systemActor(stale.orgId, 'Linear'), stale, 'another org proved administration')
    }
    const row = await queries.insertBinding(db, {
      orgId: actor.orgId,
      id: newId(),
      ...proof,
      connectionId,
      boundBy: actor.userId,
    })
    if (!row) {
      throw conflict(
        `Another org on this server already receives the events of the Linear organization ${proof.organizationName}. An owner or admin there must stop receiving them, or revoke the Linear connection, before they can be received here.`,
      )
    }
    const details = { organization: row.organizationName, organizationId: row.organizationId, connectionId }
    await audit(db, actor, 'linear-binding.created', { type: 'linear-binding', id: row.id, details })
    return row
  })
}

export const unbindLinear = (db: Database, actor: Actor, id: string): Promise<void> => {
  requireAdministrator(actor)
  return db.transaction(actor, async (db) => {
    const row = await queries.deleteBinding(db, actor.orgId, id)
    if (!row) throw notFound('Binding')
    await auditRemoval(db, actor, row, 'removed')
  })
}

/** Deletes the bindings that a connection proved, in the transaction that revokes it. */
export const releaseBindings = async (db: Transaction, actor: AuditActor, connectionId: string): Promise<void> => {
  const rows = await queries.deleteBindingsOf(db, actor.orgId, connectionId, null)
  for (const row of rows) await auditRemoval(db, actor, row, 'the connection was revoked')
}

/** Deletes the bindings that a connection proved when it had another account, in the transaction that stores the account. */
export const releaseOtherBindings = async (
  db: Transaction,
  actor: AuditActor,
  { id, accountId }: { id: string; accountId: string | null },
): Promise<void> => {
  const rows = await queries.deleteBindingsOf(db, actor.orgId, id, accountId)
  for (const row of rows) await auditRemoval(db, actor, row, 'the connection has another account')
}
