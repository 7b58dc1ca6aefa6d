import type { Actor, AuditActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { recordEvent } from '../../outbox/record.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { getUsableConnector } from '../catalog/availability.ts'
import { catalog } from '../catalog/catalog.ts'
import type { Connector } from '../catalog/definition.ts'
import type { AccessDeps } from '../deps.ts'
import { releaseBindings } from '../endpoints/linear-bindings.ts'
import { createState } from '../oauth/oauth.ts'
import { deleteStates } from '../oauth/queries.ts'
import { revokeAtProvider } from '../oauth/revocation-job.ts'
import { authorizationOf } from '../mcp/oauth/authorization.ts'
import type { McpAuthorization } from '../mcp/oauth/authorization.ts'
import type { ConnectionListQuery } from '../schemas.ts'
import * as queries from './queries.ts'
import type { ConnectionRow } from './queries.ts'
import { openSecrets } from './secrets.ts'

/** Page size when the request names no limit. */
const defaultLimit = 1_000

// Sorts before every connection, newest first.
const listStart = { createdAt: '9999-12-31 00:00:00+00', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const decodePosition = (cursor: string): { createdAt: string; id: string } => {
  const [createdAt, id] = decodeCursor(cursor, ['timestamp', 'uuid'])
  return { createdAt, id }
}

/** The caller's own connections, newest first. */
export const listConnections = async (
  db: Db,
  actor: Actor,
  { limit = defaultLimit, cursor }: ConnectionListQuery,
): Promise<{ items: ConnectionRow[]; nextCursor: string | null }> => {
  const after = cursor === undefined ? listStart : decodePosition(cursor)
  const found = await queries.listConnections(db, actor, limit + 1, after)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last ? encodeCursor([last.createdAtExactly, last.id]) : null }
}

/** The caller's own connection. Connections of other users are NOT_FOUND for every role. */
export const getConnection = async (db: Db, actor: Actor, id: string): Promise<ConnectionRow> => {
  const connection = await queries.findConnection(db, actor, id)
  if (!connection) throw notFound('Connection')
  return connection
}

/** The connector of a connection that can be completed or reconnected. CONFLICT for an expired connection. */
export const connectorToComplete = (
  deps: Pick<AccessDeps, 'config'>,
  { connectorSlug, status }: ConnectionRow,
): Connector => {
  const connector = getUsableConnector(deps, connectorSlug)
  if (status === 'expired') throw conflict('This connection expired before it was completed. Start a new one.')
  return connector
}

interface StartResult {
  connection: ConnectionRow
  oauthUrl: string | null
  credentialSubmitUrl: string | null
  /** The connection was completed before; it is active or broken. */
  isExisting: boolean
}

/** A new connection, or the user's current one with this connector and label. */
const insertOrFind = async (
  db: Transaction,
  actor: Actor,
  { slug, auth }: Connector,
  { label, quotas }: { label: string; quotas: Quotas },
): Promise<{ connection: ConnectionRow; isNew: boolean }> => {
  const status = auth.type === 'none' ? 'active' : 'pending'
  await queries.expireOverdue(db, actor, slug, label)
  for (let attempt = 0; attempt < 3; attempt++) {
    const id = newId()
    const inserted = await queries.insertConnection(db, actor, { id, connectorSlug: slug, label, status })
    if (inserted) {
      // After the insert, because an existing connection must not count twice.
      await quotas.checkRow(db, actor.orgId, 'connections', true)
      await audit(db, actor, 'connection.created', { type: 'connection', id, details: { connector: slug } })
      const event = {
        subjectId: id,
        workspaceId: null,
        ownerId: actor.userId,
        data: { connectionId: id, connector: slug },
      }
      await recordEvent(db, actor, 'connection.created', event)
      if (status === 'active') await recordEvent(db, actor, 'connection.connected', event)
      return { connection: inserted, isNew: true }
    }
    const live = await queries.lockLive(db, actor, slug, label)
    if (live) return { connection: live, isNew: false }
    // Another request deleted the connection between the two statements.
  }
  throw conflict('Another request changes this connection at the same time. Try again.')
}

const submitUrl = (origin: string, { id }: ConnectionRow): string => `${origin}/api/v1/connections/${id}/credentials`

interface StartOptions {
  connector: Connector
  label?: string | undefined
  /** The public origin of this server, for the URLs of the response. */
  origin: string
  /** Also return an OAuth URL for a connection that is already active. */
  isRestart?: boolean
}

/**
 * Starts a connection or returns the existing one. A user has at most one current connection for a connector and label,
 * also when several requests start it at the same time.
 */
export const startConnection = (
  db: Database,
  deps: AccessDeps & { quotas: Quotas },
  actor: Actor,
  { connector, label = '', origin, isRestart = false }: StartOptions,
): Promise<StartResult> =>
  db.transaction(actor, async (db) => {
    const options = { label: label.trim(), quotas: deps.quotas }
    const { connection, isNew } = await insertOrFind(db, actor, connector, options)
    const isPending = connection.status === 'pending'
    if (isPending && !isNew) await queries.extendPending(db, actor.orgId, connection.id)
    const needsOAuth = connector.auth.type === 'oauth' && (isPending || isRestart)
    return {
      connection,
      oauthUrl: needsOAuth
        ? await createState(db, deps, actor, { connectionId: connection.id, connector, origin })
        : null,
      credentialSubmitUrl: connector.auth.type === 'api_key' ? submitUrl(origin, connection) : null,
      isExisting: !isNew && !isPending,
    }
  })

/** The authorization server of an MCP server at which the user has signed in before. */
export const findAuthorization = async (
  db: Db,
  deps: Pick<AccessDeps, 'secrets'>,
  orgId: string,
  id: string,
): Promise<McpAuthorization | undefined> => {
  const row = await queries.findSecrets(db, orgId, id)
  return row && row.secrets !== null ? authorizationOf(openSecrets(deps.secrets, row, row.secrets)) : undefined
}

/** The OAuth URL that completes or reconnects a connection. BAD_REQUEST for a connector without OAuth. */
export const restartOAuth = (
  db: Database,
  deps: AccessDeps,
  actor: Actor,
  { id, origin }: { id: string; origin: string },
): Promise<string> =>
  db.transaction(actor, async (db) => {
    const connection = await queries.lockConnection(db, actor, id)
    if (!connection) throw notFound('Connection')
    const connector = connectorToComplete(deps, connection)
    const authorization = connector.isMcp ? await findAuthorization(db, deps, actor.orgId, id) : undefined
    if (connector.auth.type !== 'oauth' && !authorization) {
      throw badRequest(
        connector.isMcp
          ? 'Submit the URL of the MCP server first. The response says where to sign in.'
          : `${connector.name} does not support OAuth.`,
      )
    }
    return createState(db, deps, actor, { connectionId: id, connector, origin, authorization })
  })

/** Revokes a locked connection; see `revokeConnection`. */
export const revokeLocked = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  by: AuditActor,
  { connection, startAfterSeconds }: { connection: ConnectionRow; startAfterSeconds: number },
): Promise<'pending' | 'unsupported'> => {
  const { orgId, id, userId, connectorSlug } = connection
  const connector = catalog.get(connectorSlug)
  const auth = connector?.auth
  // Whether an MCP server has OAuth is in the sealed secrets, which the revocation reads.
  const canRevokeAtProvider = connector?.isMcp ?? (auth?.type === 'oauth' && auth.revoke !== undefined)
  const revoked = await queries.revoke(db, orgId, id, canRevokeAtProvider)
  await deleteStates(db, orgId, id)
  await releaseBindings(db, by, id)
  await audit(db, by, 'connection.revoked', { type: 'connection', id, details: { connector: connectorSlug } })
  await recordEvent(db, by, 'connection.revoked', {
    subjectId: id,
    workspaceId: null,
    ownerId: userId,
    data: { connectionId: id, connector: connectorSlug },
  })
  if (revoked?.providerRevocation !== 'pending') return 'unsupported'
  await jobs.enqueue(db, revokeAtProvider, { orgId, id }, { startAfterSeconds })
  return 'pending'
}

/**
 * Revokes and deletes a connection, and enqueues the revocation at the provider. The connection cannot be used from here
 * on. The sealed secrets are kept until the provider has revoked the grant or the job has failed for the last time.
 */
export const revokeConnection = (
  db: Database,
  jobs: Jobs,
  actor: Actor,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
): Promise<'pending' | 'unsupported'> =>
  db.transaction(actor, async (db) => {
    const connection = await queries.lockConnection(db, actor, id)
    if (!connection) throw notFound('Connection')
    requireMatch(ifMatch, connection)
    // The request itself makes the first attempt.
    return revokeLocked(db, jobs, actor, { connection, startAfterSeconds: 30 })
  })
