import { createHash, randomBytes } from 'node:crypto'
import type { Actor, Origin } from '../../identity/actor.ts'
import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { catalog } from '../catalog/catalog.ts'
import { oauthVerifierColumn, sealSecrets } from '../connections/secrets.ts'
import type { Connector } from '../catalog/definition.ts'
import { authorizeUrl, exchangeCode, oauthOf, revokeGrant } from './client.ts'
import type { Grant } from './client.ts'
import * as oauthQueries from './queries.ts'
import type { ConsumedState, PendingFlow } from './queries.ts'
import { callProvider, ProviderError } from '../connections/provider.ts'
import * as queries from '../queries.ts'
import type { ConnectionRow } from '../queries.ts'
import type { AccessDeps } from './refresh.ts'
import { textAt } from '../connections/templates.ts'

export type OAuthDeps = AccessDeps

/** Where providers send browsers back to. */
export const callbackPath = '/api/v1/connections/oauth/callback'

const hashOf = (state: string): Buffer => createHash('sha256').update(state).digest()

/** More than anybody has tabs open for. */
const maxStates = 5

/**
 * Begins a flow: answers the URL that the person goes to. Its state is single-use, good for ten minutes and this
 * connection; what is stored of it completes nothing.
 */
export const createState = async (
  db: Transaction,
  deps: OAuthDeps,
  actor: Actor,
  connectionId: string,
  connector: Connector,
  origin: string,
): Promise<string> => {
  const id = newId()
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const redirectUri = origin + callbackPath
  await oauthQueries.insertState(db, actor.orgId, {
    id,
    connectionId,
    userId: actor.userId,
    hash: hashOf(state),
    verifier: deps.secrets.seal(verifier, oauthVerifierColumn.at(actor.orgId, id)),
    redirectUri,
  })
  await oauthQueries.pruneStates(db, actor.orgId, connectionId, maxStates)
  return authorizeUrl(deps, connector, { state, challenge, redirectUri })
}

export const badState = (): ApiError =>
  badRequest('This sign-in is not under way: it was completed, it took longer than 10 minutes, or it is another one.')

/** Whose connection a state would complete. BAD_REQUEST when there is no such flow. */
export const getFlow = async ({ db }: OAuthDeps, state: string): Promise<PendingFlow & { connector: Connector }> => {
  const flow = await oauthQueries.findFlow(db, hashOf(state))
  const connector = flow && catalog.get(flow.connectorSlug)
  if (!flow || !connector) throw badState()
  return { ...flow, connector }
}

interface AccountOf {
  accountId: string | null
  accountName: string | null
}

const accountOf = async (deps: OAuthDeps, orgId: string, connector: Connector, grant: Grant): Promise<AccountOf> => {
  const account = oauthOf(connector)?.account
  if (!account) return { accountId: null, accountName: null }
  const access = { orgId, connector, secrets: grant.secrets, accountId: null }
  const answer = account.from === 'token' ? grant.answer : (await callProvider(deps, access, account.from)).body
  const accountId = textAt(answer, account.id)
  // Without it the connection could not be used (Jira), or events could not be told whose they are (Linear).
  if (accountId === null) throw new ProviderError('refused', `${connector.name} did not say whose account this is.`)
  return { accountId, accountName: textAt(answer, account.name) }
}

/** A grant that nobody will have: better given back than forgotten. */
const discard = async (deps: OAuthDeps, orgId: string, connector: Connector, grant: Grant): Promise<void> => {
  await revokeGrant(deps, { orgId, connector, secrets: grant.secrets }).catch((error: unknown) => {
    deps.log.warn({ err: error, connector: connector.slug }, 'a grant that is of no use could not be given back')
  })
}

const store = (
  deps: OAuthDeps,
  connector: Connector,
  { orgId, connectionId, userId }: ConsumedState,
  grant: Grant,
  account: AccountOf,
  origin: Origin,
): Promise<ConnectionRow | undefined> => {
  const { scopes, expiresInSeconds, canRenew } = grant
  const secrets = sealSecrets(deps.secrets, { orgId, id: connectionId }, grant.secrets)
  return deps.db.transaction({ orgId }, async (db) => {
    const accepted = { secrets, scopes, expiresInSeconds, canRenew, ...account }
    const connection = await queries.activate(db, orgId, connectionId, accepted)
    if (!connection) return undefined
    await oauthQueries.deleteStates(db, orgId, connectionId)
    const by = { ...systemActor(orgId, 'OAuth'), userId, origin }
    const details = { connector: connector.slug, account: account.accountName }
    await audit(db, by, 'connection.connected', { type: 'connection', id: connectionId }, details)
    return connection
  })
}

/** What the person is told when the provider did not give what it should have. */
const failure = (connector: Connector, error: unknown): unknown =>
  error instanceof ProviderError && error.failure !== 'unavailable'
    ? badRequest(`${connector.name} did not accept this sign-in. Start again.`, { cause: error })
    : error

/**
 * Exchanges the code for a grant and stores it. The state is used up first, so of many who complete one flow at once one
 * does. `of` restricts it to this person's connection. BAD_REQUEST for a state that is not under way and for what the
 * provider does not accept, SERVICE_UNAVAILABLE when it does not answer, CONFLICT when the connection was revoked
 * meanwhile: then the grant is given back.
 */
export const completeOAuth = async (
  deps: OAuthDeps,
  { code, state }: { code: string; state: string },
  { of, origin }: { of?: { orgId: string; connectionId: string; userId: string }; origin: Origin },
): Promise<ConnectionRow> => {
  const { db, secrets: sealer } = deps
  const consumed = await oauthQueries.consumeState(db, hashOf(state), of)
  if (!consumed) throw badState()
  const { orgId, id, connectionId, redirectUri } = consumed
  const connection = await queries.findConnectionOfOrg(db, orgId, connectionId)
  const connector = connection && catalog.get(connection.connectorSlug)
  if (!connector) throw badState()
  const verifier = sealer.open(consumed.verifier, oauthVerifierColumn.at(orgId, id))
  let grant: Grant | undefined
  try {
    grant = await exchangeCode(deps, connector, { orgId, code, verifier, redirectUri })
    deps.onMoment?.('after-exchange')
    const account = await accountOf(deps, orgId, connector, grant)
    const stored = await store(deps, connector, consumed, grant, account, origin)
    if (stored) return stored
  } catch (error) {
    // One that is connected already may have the same grant.
    if (grant && connection.status === 'pending') await discard(deps, orgId, connector, grant)
    throw failure(connector, error)
  }
  await discard(deps, orgId, connector, grant)
  throw conflict('The connection was revoked or ran out of time while you signed in.')
}

/** The person said no, or the provider did. The flow is over; what it said is not repeated. */
export const refuseOAuth = async ({ db }: OAuthDeps, state: string): Promise<Connector> => {
  const consumed = await oauthQueries.consumeState(db, hashOf(state))
  if (!consumed) throw badState()
  const connection = await queries.findConnectionOfOrg(db, consumed.orgId, consumed.connectionId)
  const connector = connection && catalog.get(connection.connectorSlug)
  if (!connector) throw badState()
  const lastError = `${connector.name} did not give access.`
  await queries.setLastError(db, consumed.orgId, consumed.connectionId, lastError)
  return connector
}
