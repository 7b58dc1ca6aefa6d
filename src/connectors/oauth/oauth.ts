import { createHash, randomBytes } from 'node:crypto'
import type { Actor, Origin } from '../../identity/actor.ts'
import { systemActor } from '../../identity/actor.ts'
import { recordEvent } from '../../outbox/record.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { catalog } from '../catalog/catalog.ts'
import type { Connector } from '../catalog/definition.ts'
import type { Access } from '../connections/access.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { callProvider } from '../connections/provider.ts'
import * as connectionQueries from '../connections/queries.ts'
import type { ConnectionRow } from '../connections/queries.ts'
import { oauthClientColumn, oauthVerifierColumn, sealSecrets } from '../connections/secrets.ts'
import { textAt } from '../connections/templates.ts'
import type { AccessDeps } from '../deps.ts'
import { releaseOtherBindings } from '../endpoints/linear-bindings.ts'
import { inspectServer } from '../mcp/mcp.ts'
import { authorizeUrlOf, checkIssuer, secretsOf } from '../mcp/oauth/authorization.ts'
import type { McpAuthorization } from '../mcp/oauth/authorization.ts'
import { authorizeUrl, exchangeCode, oauthOf, revokeGrant } from './client.ts'
import type { Grant } from './client.ts'
import * as queries from './queries.ts'
import type { ConsumedState, PendingFlow, StateOwner } from './queries.ts'

/** The path of the redirect URI of the catalog's connectors. */
export const callbackPath = '/api/v1/connections/oauth/callback'

const hashOf = (state: string): Buffer => createHash('sha256').update(state).digest()

/** Pending flows of one connection. Bounds the table when a user starts the flow again and again. */
const maxStates = 5

interface NewFlow {
  connectionId: string
  connector: Connector
  /** The public origin of this server. */
  origin: string
  /** For a discovered authorization server. */
  authorization?: McpAuthorization | undefined
}

/**
 * Starts a flow and returns the authorize URL. Its state is single-use, valid for ten minutes and for this connection
 * only. The database stores a hash of it, so that a leaked row cannot complete a flow.
 */
export const createState = async (
  db: Transaction,
  deps: AccessDeps,
  actor: Actor,
  { connectionId, connector, origin, authorization }: NewFlow,
): Promise<string> => {
  const id = newId()
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const redirectUri = origin + (authorization?.redirectPath ?? callbackPath)
  await queries.insertState(db, actor.orgId, {
    id,
    connectionId,
    userId: actor.userId,
    hash: hashOf(state),
    verifier: deps.secrets.seal(verifier, oauthVerifierColumn.at(actor.orgId, id)),
    redirectUri,
    client: authorization
      ? deps.secrets.seal(JSON.stringify(authorization), oauthClientColumn.at(actor.orgId, id))
      : null,
  })
  await queries.pruneStates(db, actor.orgId, connectionId, maxStates)
  const request = { state, challenge, redirectUri }
  return authorization ? authorizeUrlOf(authorization, request) : authorizeUrl(deps, connector, request)
}

const openClient = (
  { secrets }: AccessDeps,
  { orgId, id, client }: { orgId: string; id: string; client: string | null },
): McpAuthorization | undefined =>
  client === null ? undefined : (JSON.parse(secrets.open(client, oauthClientColumn.at(orgId, id))) as McpAuthorization)

export const invalidState = (): ApiError =>
  badRequest('state is not valid: it is unknown, already used, or older than 10 minutes')

/** Whether a browser was sent to the redirect URI of the flow. Its code may be that of another provider otherwise. */
const hasArrived = ({ redirectUri }: { redirectUri: string }, path: string): boolean => redirectUri.endsWith(path)

/** The flow that a state completes at this path, with the name of the provider. BAD_REQUEST when there is none. */
export const getFlow = async (
  deps: AccessDeps,
  state: string,
  path: string,
): Promise<PendingFlow & { provider: string }> => {
  const flow = await queries.findFlow(deps.db, hashOf(state))
  const connector = flow && catalog.get(flow.connectorSlug)
  if (!flow || !connector || !hasArrived(flow, path)) throw invalidState()
  const authorization = openClient(deps, flow)
  return { ...flow, provider: authorization ? `${new URL(authorization.url).host} (MCP)` : connector.name }
}

interface ProviderAccount {
  accountId: string | null
  accountName: string | null
  /** JSON, of an MCP server. */
  pinnedTools?: string
}

/** A token response that is not stored yet. */
interface NewGrant {
  orgId: string
  connector: Connector
  grant: Grant
}

const findAccount = async (deps: AccessDeps, { orgId, connector, grant }: NewGrant): Promise<ProviderAccount> => {
  const account = oauthOf(connector)?.account
  const access: Access = { orgId, connector, secrets: grant.secrets, accountId: null }
  if (connector.isMcp) {
    const { serverName, tools } = await inspectServer(deps, access)
    return { accountId: null, accountName: serverName, pinnedTools: JSON.stringify(tools) }
  }
  if (!account) return { accountId: null, accountName: null }
  const response = account.from === 'token' ? grant.response : (await callProvider(deps, access, account.from)).body
  const accountId = textAt(response, account.id)
  // The account ID is part of Jira's URLs and identifies the owner of Linear's events.
  if (accountId === null) throw new ProviderError('rejected', `${connector.name} returned no account ID.`)
  return { accountId, accountName: textAt(response, account.name) }
}

/**
 * Revokes a grant that is not stored, so that no token stays valid without an owner. Not while the person has another
 * connection of the connector: it may be to the same account, for which many providers have one grant.
 */
const revokeUnused = async (
  deps: AccessDeps,
  { connectionId: id, userId }: ConsumedState,
  { orgId, connector, grant }: NewGrant,
): Promise<void> => {
  const own = { orgId, id, userId, connectorSlug: connector.slug }
  // Each connection of an MCP server has a client of its own.
  if (connector.isMcp !== true && (await connectionQueries.hasOtherActive(deps.db, own))) return
  await revokeGrant(deps, { orgId, connector, secrets: grant.secrets }).catch((error: unknown) => {
    deps.log.warn({ err: error, connector: connector.slug }, 'an unused grant could not be revoked')
  })
}

/**
 * Revokes the grant of a flow that failed, unless the connection has another one: many providers use the same grant for
 * all tokens of an account, and another flow may have completed in the meantime.
 */
const revokeFailed = async (deps: AccessDeps, consumed: ConsumedState, newGrant: NewGrant): Promise<void> => {
  const current = await connectionQueries.findConnectionOfOrg(deps.db, newGrant.orgId, consumed.connectionId)
  if (current && !['pending', 'expired'].includes(current.status)) return
  await revokeUnused(deps, consumed, newGrant)
}

const store = async (
  deps: AccessDeps,
  { connectionId, userId }: ConsumedState,
  { orgId, connector, grant, account }: NewGrant & { account: ProviderAccount },
  origin: Origin,
): Promise<ConnectionRow | undefined> => {
  const { scopes, expiresInSeconds, canRefresh } = grant
  const secrets = sealSecrets(deps.secrets, { orgId, id: connectionId }, grant.secrets)
  return deps.db.transaction({ orgId }, async (db) => {
    const accepted = { secrets, scopes, expiresInSeconds, canRefresh, ...account }
    const connection = await connectionQueries.activate(db, orgId, connectionId, accepted)
    if (!connection) return undefined
    await queries.deleteStates(db, orgId, connectionId)
    const by = { ...systemActor(orgId, 'OAuth'), userId, origin }
    if (connector.slug === 'linear') await releaseOtherBindings(db, by, connection)
    const details = { connector: connector.slug, account: account.accountName }
    await audit(db, by, 'connection.connected', { type: 'connection', id: connectionId, details })
    const data = { connectionId, connector: connector.slug }
    await recordEvent(db, by, 'connection.connected', {
      subjectId: connectionId,
      workspaceId: null,
      ownerId: userId,
      data,
    })
    return connection
  })
}

const toPublicError = (connector: Connector, error: unknown): unknown =>
  error instanceof ProviderError && error.failure !== 'unavailable'
    ? badRequest(`${connector.name} did not accept this sign-in. Start again.`, { cause: error })
    : error

/**
 * Exchanges the code and stores the grant. The state is consumed first, so that only one of several concurrent requests
 * exchanges the code. `owner` restricts the flow to one user's connection, `path` to the redirect URI to which a browser
 * was sent. BAD_REQUEST for an invalid state and for a code that the provider does not accept, SERVICE_UNAVAILABLE when the
 * provider cannot be reached, CONFLICT when the connection was revoked in the meantime; the grant is revoked then.
 */
export const completeOAuth = async (
  deps: AccessDeps,
  { code, state, iss }: { code: string; state: string; iss?: string | undefined },
  { owner, path, origin }: { owner?: StateOwner; path?: string; origin: Origin },
): Promise<ConnectionRow> => {
  const { db, secrets: sealer } = deps
  const consumed = await queries.consumeState(db, hashOf(state), owner)
  if (!consumed || (path !== undefined && !hasArrived(consumed, path))) throw invalidState()
  const { orgId, id, connectionId, redirectUri } = consumed
  const connection = await connectionQueries.findConnectionOfOrg(db, orgId, connectionId)
  const connector = connection && catalog.get(connection.connectorSlug)
  if (!connector) throw invalidState()
  const verifier = sealer.open(consumed.verifier, oauthVerifierColumn.at(orgId, id))
  const authorization = openClient(deps, consumed)
  let newGrant: NewGrant | undefined
  let account: ProviderAccount
  try {
    if (authorization) checkIssuer(authorization, iss)
    const grant = await exchangeCode(deps, connector, { orgId, code, verifier, redirectUri, authorization })
    const own = authorization ? secretsOf(authorization) : {}
    newGrant = { orgId, connector, grant: { ...grant, secrets: { ...own, ...grant.secrets } } }
    deps.onFaultPoint?.('after-exchange')
    account = await findAccount(deps, newGrant)
  } catch (error) {
    if (newGrant) await revokeFailed(deps, consumed, newGrant)
    throw toPublicError(connector, error)
  }
  // An error here does not revoke the grant, because the commit may have succeeded.
  const stored = await store(deps, consumed, { ...newGrant, account }, origin)
  if (stored) return stored
  await revokeUnused(deps, consumed, newGrant)
  throw conflict('The connection was revoked or expired during the sign-in.')
}

/** Ends a flow that the user or the provider denied. The provider's error text is not repeated, since anyone can send it. */
export const denyOAuth = async ({ db }: AccessDeps, state: string): Promise<Connector> => {
  const consumed = await queries.consumeState(db, hashOf(state))
  if (!consumed) throw invalidState()
  const connection = await connectionQueries.findConnectionOfOrg(db, consumed.orgId, consumed.connectionId)
  const connector = connection && catalog.get(connection.connectorSlug)
  if (!connector) throw invalidState()
  const lastError = `Access to ${connector.name} was denied.`
  await connectionQueries.setLastError(db, consumed.orgId, consumed.connectionId, lastError)
  return connector
}
