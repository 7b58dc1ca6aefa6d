import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { catalog } from '../catalog/catalog.ts'
import { getUsableConnector } from '../connectors.ts'
import type { Connector } from '../catalog/definition.ts'
import { releaseBindings } from '../endpoints/linear-bindings.ts'
import { createState } from '../oauth/oauth.ts'
import type { OAuthDeps } from '../oauth/oauth.ts'
import { deleteStates } from '../oauth/queries.ts'
import * as queries from '../queries.ts'
import type { ConnectionRow } from '../queries.ts'
import { revokeAtProvider } from '../oauth/revocation-job.ts'
import type { ConnectionListQuery } from '../schemas.ts'

/** As many as a list answers in one go when no limit is named. */
const wholeList = 1_000

// Before every position of a list that goes down from the newest.
const listStart = { createdAt: '9999-12-31 00:00:00+00', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const positionOf = (cursor: string): { createdAt: string; id: string } => {
  const [createdAt, id] = decodeCursor(cursor, ['timestamp', 'uuid'])
  return { createdAt, id }
}

/** The caller's own connections, newest first. */
export const listConnections = async (
  db: Db,
  actor: Actor,
  { limit = wholeList, cursor }: ConnectionListQuery,
): Promise<{ items: ConnectionRow[]; nextCursor: string | null }> => {
  const after = cursor === undefined ? listStart : positionOf(cursor)
  const found = await queries.listConnections(db, actor, limit + 1, after)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last ? encodeCursor([last.createdAtExactly, last.id]) : null }
}

/** The caller's own connection. Another person's is NOT_FOUND, whatever the caller's role. */
export const getConnection = async (db: Db, actor: Actor, id: string): Promise<ConnectionRow> => {
  const connection = await queries.findConnection(db, actor, id)
  if (!connection) throw notFound('Connection')
  return connection
}

/** The connector of a connection that can be completed or repaired. */
export const connectorToComplete = (
  deps: Pick<OAuthDeps, 'config'>,
  { connectorSlug, status }: ConnectionRow,
): Connector => {
  const connector = getUsableConnector(deps, connectorSlug)
  if (status === 'expired') throw conflict('Nobody completed this connection in time. Start a new one.')
  return connector
}

export interface StartedConnection {
  connection: ConnectionRow
  oauthUrl: string | null
  credentialSubmitUrl: string | null
  /** It was connected before, or it is broken and waits to be repaired. */
  isExisting: boolean
}

/** A new connection, or the live one that the person has under this label. */
const insertOrFind = async (
  db: Transaction,
  quotas: Quotas,
  actor: Actor,
  { slug, auth }: Connector,
  label: string,
): Promise<{ connection: ConnectionRow; isNew: boolean }> => {
  const status = auth.type === 'none' ? 'active' : 'pending'
  await queries.expireOverdue(db, actor, slug, label)
  for (let attempt = 0; attempt < 3; attempt++) {
    const id = newId()
    const inserted = await queries.insertConnection(db, actor, { id, connectorSlug: slug, label, status })
    if (inserted) {
      // Once it is there, because one that was there before needs no room.
      await quotas.takeRow(db, actor.orgId, 'connections', true)
      await audit(db, actor, 'connection.created', { type: 'connection', id }, { connector: slug })
      return { connection: inserted, isNew: true }
    }
    const live = await queries.lockLive(db, actor, slug, label)
    if (live) return { connection: live, isNew: false }
    // It was deleted in between.
  }
  throw conflict('The connection is being made and deleted at the same time. Try again.')
}

const submitUrl = (origin: string, { id }: ConnectionRow): string => `${origin}/api/v1/connections/${id}/credentials`

/**
 * Starts a connection, or answers the one that is there: a person has one live connection to a connector under one label,
 * however many start it at once. `origin` is what URLs begin with.
 */
export const startConnection = (
  db: Database,
  deps: OAuthDeps & { quotas: Quotas },
  actor: Actor,
  connector: Connector,
  {
    label: wanted = '',
    origin,
    isRestart = false,
  }: { label?: string | undefined; origin: string; isRestart?: boolean },
): Promise<StartedConnection> =>
  db.transaction(actor, async (db) => {
    const { connection, isNew } = await insertOrFind(db, deps.quotas, actor, connector, wanted.trim())
    const isWaiting = connection.status === 'pending'
    if (isWaiting && !isNew) await queries.prolongPending(db, actor.orgId, connection.id)
    const wantsUrl = connector.auth.type === 'oauth' && (isWaiting || isRestart)
    return {
      connection,
      oauthUrl: wantsUrl ? await createState(db, deps, actor, connection.id, connector, origin) : null,
      credentialSubmitUrl: connector.auth.type === 'api_key' ? submitUrl(origin, connection) : null,
      isExisting: !isNew && !isWaiting,
    }
  })

/** Where to go to complete or repair a connection by OAuth. BAD_REQUEST for a connector that does not work that way. */
export const restartOAuth = (
  db: Database,
  deps: OAuthDeps,
  actor: Actor,
  id: string,
  origin: string,
): Promise<string> =>
  db.transaction(actor, async (db) => {
    const connection = await queries.lockConnection(db, actor, id)
    if (!connection) throw notFound('Connection')
    const connector = connectorToComplete(deps, connection)
    if (connector.auth.type !== 'oauth') throw badRequest(`${connector.name} does not support OAuth.`)
    return createState(db, deps, actor, id, connector, origin)
  })

/**
 * Ends a connection for good and has its grant given back to the provider. From here on nothing is done in its name; the
 * secrets are kept, sealed, until the provider took the grant back or it is clear that it will not.
 */
export const revokeConnection = (
  db: Database,
  jobs: Jobs,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<'pending' | 'unsupported'> =>
  db.transaction(actor, async (db) => {
    const connection = await queries.lockConnection(db, actor, id)
    if (!connection) throw notFound('Connection')
    requireMatch(ifMatch, connection)
    const auth = catalog.get(connection.connectorSlug)?.auth
    const isGrant = auth?.type === 'oauth' && auth.revoke !== undefined
    const revoked = await queries.revoke(db, actor, id, isGrant)
    await deleteStates(db, actor.orgId, id)
    await releaseBindings(db, actor, id)
    await audit(db, actor, 'connection.revoked', { type: 'connection', id }, { connector: connection.connectorSlug })
    if (revoked?.providerRevocation !== 'pending') return 'unsupported'
    await jobs.enqueue(db, revokeAtProvider, { orgId: actor.orgId, id }, { startAfterSeconds: 30 })
    return 'pending'
  })
