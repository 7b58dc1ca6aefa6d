import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { recordEvent } from '../../outbox/record.ts'
import { ApiError, badRequest, notFound } from '../../platform/http/errors.ts'
import { inspectAgent } from '../a2a/client.ts'
import type { ApiKeyAuth, Connector, CredentialField } from '../catalog/definition.ts'
import type { AccessDeps } from '../deps.ts'
import { inspectServer } from '../mcp/mcp.ts'
import { withScope } from '../mcp/oauth/authorization.ts'
import type { Challenge } from '../mcp/oauth/challenge.ts'
import { clientPlaceOf } from '../mcp/oauth/registration.ts'
import { prepareSignIn } from '../mcp/oauth/sign-in.ts'
import { McpChallenge } from '../mcp/transport.ts'
import { createState } from '../oauth/oauth.ts'
import { settingsOf } from './access.ts'
import type { Access } from './access.ts'
import { connectorToComplete, findAuthorization, getConnection } from './connections.ts'
import { ProviderError } from './provider-error.ts'
import { callProvider } from './provider.ts'
import * as queries from './queries.ts'
import type { ConnectionRow } from './queries.ts'
import { checkAuthHeaders } from './request.ts'
import { sealSecrets } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import { textAt } from './templates.ts'

const printable = /^[^\p{Cc}]*$/u

const valueOf = (field: CredentialField, given: Secrets): string | undefined => {
  const value = given[field.key]?.trim() ?? ''
  if (value === '') {
    if (field.required) throw badRequest(`credentials.${field.key} is required`)
    return field.fallback
  }
  if (!printable.test(value)) throw badRequest(`credentials.${field.key} must not contain control characters`)
  return value
}

/** Checks that all required fields and no unknown ones are given, and applies defaults. */
const readFields = ({ fields }: ApiKeyAuth, given: Secrets): Secrets => {
  const known = fields.map(({ key }) => key)
  // The message does not repeat the unknown name, because it could be a secret in the wrong place.
  if (Object.keys(given).some((key) => !known.includes(key))) {
    throw badRequest(`credentials has an unknown field; the fields are ${known.join(', ')}`)
  }
  const entries = fields.map((field) => [field.key, valueOf(field, given)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Secrets
}

/** Checks the base URL of credentials that contain one. It must be allowed by the outbound guard. */
const checkBaseUrl = async (deps: AccessDeps, { orgId, connector, secrets }: Access): Promise<void> => {
  const field = connector.api.baseUrlField
  if (field === undefined) return
  const url = URL.parse(secrets[field] ?? '')
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '') {
    throw badRequest(`credentials.${field} must be an http or https URL without a user name and a fragment`)
  }
  if (url.search !== '' && connector.isMcp !== true) throw badRequest(`credentials.${field} must not have a query`)
  if (settingsOf(deps, connector).baseUrl === undefined) await deps.outbound.checkUrl(url.href, { orgId })
}

interface TestResult {
  accountId: string | null
  accountName: string | null
  pinnedTools?: string
}

/** Sends the connector's test request, and reads the account from its response. */
const sendTest = async (deps: AccessDeps, access: Access, { check }: ApiKeyAuth): Promise<TestResult> => {
  const { connector, secrets } = access
  if (connector.isMcp) {
    const { serverName, tools } = await inspectServer(deps, access)
    return { accountId: null, accountName: serverName, pinnedTools: JSON.stringify(tools) }
  }
  if (connector.isA2a) {
    const agent = await inspectAgent(deps, access)
    return { accountId: null, accountName: agent.name, pinnedTools: JSON.stringify({ agent }) }
  }
  const untested = { accountId: null, accountName: null }
  if (!check || check.from === 'token' || (check.when !== undefined && !secrets[check.when])) return untested
  const { body } = await callProvider(deps, access, check.from, { input: secrets })
  const accountId = textAt(body, check.id)
  if (check.id !== undefined && accountId === null) {
    throw new ProviderError('rejected', `${connector.name} returned no account for these credentials.`)
  }
  return { accountId, accountName: textAt(body, check.name) }
}

const testCredentials = async (deps: AccessDeps, access: Access, auth: ApiKeyAuth): Promise<TestResult> => {
  try {
    return await sendTest(deps, access, auth)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === 'unavailable') throw error
    throw badRequest(`${access.connector.name} did not accept the credentials. ${error.message}`, { cause: error })
  }
}

const keyAuthOf = (connector: Connector): ApiKeyAuth => {
  if (connector.auth.type !== 'api_key') throw badRequest(`${connector.name} does not use an API key.`)
  return connector.auth
}

/** An MCP server asks for sign-in with 401, when it was given no token. */
const signInChallengeOf = ({ connector, secrets }: Access, error: unknown): Challenge | undefined => {
  const cause = error instanceof ApiError ? error.cause : undefined
  const isAsked = connector.isMcp === true && secrets['token'] === undefined
  return isAsked && cause instanceof McpChallenge && cause.responseStatus === 401 ? cause.challenge : undefined
}

interface SubmitContext {
  db: Database
  deps: AccessDeps
  actor: Actor
  /** The public origin of this server. */
  origin: string
}

/** Finds the authorization server of an MCP server, and returns the URL of its consent page. */
const startSignIn = async (
  { db, deps, actor, origin }: SubmitContext,
  { id, access, challenge }: { id: string; access: Access; challenge: Challenge },
): Promise<{ connection: ConnectionRow; oauthUrl: string }> => {
  const { connector, secrets } = access
  const { clientId, clientSecret } = secrets
  const found = await prepareSignIn(deps, {
    orgId: actor.orgId,
    connector,
    url: secrets['url'] ?? '',
    challenge,
    client: {
      clientId,
      clientSecret,
      placeOf: (issuer) => clientPlaceOf(origin, issuer, clientId !== undefined),
    },
  })
  return db.transaction(actor, async (db) => {
    const connection = await queries.lockConnection(db, actor, id)
    if (!connection) throw notFound('Connection')
    const before = await findAuthorization(db, deps, actor.orgId, id)
    // With the scopes that the server has asked for since the last sign-in.
    const wider = before?.issuer === found.issuer ? withScope(found, before.scope) : undefined
    const authorization = wider ?? found
    await queries.extendPending(db, actor.orgId, id)
    return {
      connection,
      oauthUrl: await createState(db, deps, actor, { connectionId: id, connector, origin, authorization }),
    }
  })
}

/**
 * Completes or reconnects a connection with credentials that the provider accepts. For an MCP server that asks for
 * sign-in, nothing changes but a flow is started, whose URL is returned. BAD_REQUEST for fields that are missing, unknown
 * or not accepted, SERVICE_UNAVAILABLE when the provider cannot be reached. Nothing changes then.
 */
export const submitCredentials = async (
  context: SubmitContext,
  { id, credentials }: { id: string; credentials: Secrets },
): Promise<{ connection: ConnectionRow; oauthUrl?: string }> => {
  const { db, deps, actor } = context
  const connector = connectorToComplete(deps, await getConnection(db, actor, id))
  const auth = keyAuthOf(connector)
  const secrets = readFields(auth, credentials)
  const access = { orgId: actor.orgId, connector, secrets, accountId: null }
  checkAuthHeaders(access)
  await checkBaseUrl(deps, access)
  let result: TestResult
  try {
    result = await testCredentials(deps, access, auth)
  } catch (error) {
    const challenge = signInChallengeOf(access, error)
    if (!challenge) throw error
    return startSignIn(context, { id, access, challenge })
  }
  return db.transaction(actor, async (db) => {
    const sealed = sealSecrets(deps.secrets, { orgId: actor.orgId, id }, secrets)
    const connection = await queries.activate(db, actor.orgId, id, { secrets: sealed, scopes: [], ...result })
    if (!connection) throw notFound('Connection')
    const details = { connector: connector.slug, account: result.accountName }
    await audit(db, actor, 'connection.connected', { type: 'connection', id, details })
    const data = { connectionId: id, connector: connector.slug }
    await recordEvent(db, actor, 'connection.connected', {
      subjectId: id,
      workspaceId: null,
      ownerId: actor.userId,
      data,
    })
    return { connection }
  })
}
