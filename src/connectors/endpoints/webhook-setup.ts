import { randomBytes } from 'node:crypto'
import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { ApiError, badRequest, conflict } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import { newId } from '../../platform/ids.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { discordKey } from '../../providers/discord.ts'
import { callConnection, withConnection } from '../connections/calls.ts'
import * as queries from './queries.ts'
import type { EndpointSettings } from './queries.ts'
import { endpointSecretColumn } from './secrets.ts'
import { registrations } from '../registrations/registrations.ts'
import type { Call, Found, Planned, Registration } from '../registrations/registration.ts'
import type { AccessDeps } from '../deps.ts'
import { textAt } from '../connections/templates.ts'

/** The options of the command `atrium setup-webhook`. */
export interface SetUp {
  provider: string
  connection: { orgId: string; id: string; userId: string }
  workspaceId: string
  agentId: string | null
  /** `https://hooks.example.com`, from `checkBaseUrl`. */
  baseUrl: string
  /** The provider's resource that sends events: a repository, a phone number, a team. */
  target?: string | undefined
  /** The secret that the provider issued. */
  secret?: string | undefined
  publicKey?: string | undefined
  serviceAccount?: string | undefined
  /** Replaces an existing webhook. */
  replace: boolean
}

export interface MadeEndpoint {
  endpoint: { id: string; url: string }
  /** The generated secret, which the user has to enter at the provider. */
  secret?: string
  registered: boolean
  /** URL of the webhook that was replaced. */
  replaced?: string
}

/**
 * The base URL that providers call. In production it must be https with a public address, BAD_REQUEST otherwise;
 * outside production any URL is allowed, for tests and tunnels.
 */
export const checkBaseUrl = async (
  baseUrl: string | undefined,
  { isProduction, ports }: { isProduction: boolean; ports: readonly number[] | undefined },
): Promise<string> => {
  if (baseUrl === undefined) {
    throw badRequest('CONNECTOR_WEBHOOK_BASE_URL is not set. It must be the public https URL of this server.')
  }
  if (!isProduction) return baseUrl
  const url = new URL(baseUrl)
  if (url.protocol !== 'https:') throw badRequest('CONNECTOR_WEBHOOK_BASE_URL must be an https URL.')
  // Without OUTBOUND_ALLOW_CIDRS, because the private ranges that the operator allows are not public.
  const outbound = createOutbound()
  try {
    await outbound.checkUrl(baseUrl)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw badRequest(`Providers cannot reach CONNECTOR_WEBHOOK_BASE_URL. ${error.message}`, {
      cause: error,
    })
  } finally {
    await outbound.close()
  }
  const port = url.port === '' ? 443 : Number(url.port)
  if (ports && !ports.includes(port)) {
    throw badRequest(
      `CONNECTOR_WEBHOOK_BASE_URL must have one of the ports ${ports.join(', ')} for this provider, not ${port}.`,
    )
  }
  return baseUrl
}

const pathOf = (provider: string): string => `${apiPrefix}/connectors/webhooks/${provider}/`

const requireText = (value: string | undefined, option: string, description: string): string => {
  if (value === undefined || value.trim() === '') throw badRequest(`--${option} is required: ${description}.`)
  return value.trim()
}

/** The credentials of an endpoint that is not registered by API: issued by the provider, or a generated secret. */
const credentialsFrom = (asked: SetUp): { secret: string | null; settings: EndpointSettings; isGenerated: boolean } => {
  const { provider } = asked
  if (provider === 'discord') {
    const publicKey = requireText(
      asked.publicKey,
      'public-key',
      'the public key of the application, from its General Information',
    )
    if (!discordKey(publicKey)) throw badRequest('--public-key must be 64 hexadecimal digits.')
    return { secret: null, settings: { publicKey }, isGenerated: false }
  }
  if (provider === 'gmail') {
    const serviceAccount = requireText(
      asked.serviceAccount,
      'service-account',
      "the email address of the service account in the push subscription's authentication",
    )
    return { secret: null, settings: { serviceAccount }, isGenerated: false }
  }
  if (provider === 'slack') {
    const secret = requireText(asked.secret, 'secret', 'the signing secret of the app, from its Basic Information')
    return { secret, settings: {}, isGenerated: false }
  }
  const secret = asked.secret?.trim()
  if (secret !== undefined && secret.length < 8) throw badRequest('--secret must have at least 8 characters.')
  return { secret: secret ?? randomBytes(32).toString('base64url'), settings: {}, isGenerated: secret === undefined }
}

/** Requests for the account of a connection, of providers that send what the account writes back as events. */
const accountRequests: Record<string, { path: string; id: string }> = {
  github: { path: '/user', id: 'login' },
  jira: { path: '/rest/api/3/myself', id: 'accountId' },
}

/** The accounts that the agent writes with. Without them, the agent would reply to its own messages in a loop. */
const ownIdsOf = async (call: Call, { provider, agentId, target }: SetUp): Promise<string[]> => {
  if (provider === 'twilio') return target === undefined ? [] : [target]
  const request = agentId === null ? undefined : accountRequests[provider]
  if (!request) return []
  const id = textAt((await call({ method: 'GET', path: request.path })).body, request.id)
  if (id === null) throw badRequest('The provider did not return the account of the connection.')
  return [id]
}

/** Twilio signs with the auth token of the account. */
const accountSecret = (deps: AccessDeps, { provider, connection }: SetUp): Promise<string | undefined> =>
  provider === 'twilio'
    ? withConnection(deps, connection, async ({ secrets }) => secrets['authToken'])
    : Promise.resolve(undefined)

const settingsOf = (asked: SetUp, found: Found, more: EndpointSettings): EndpointSettings => {
  const { ownIds = [] } = found
  const target = found.target ?? asked.target
  return { ...more, ...(ownIds.length > 0 ? { ownIds } : {}), ...(target === undefined ? {} : { target }) }
}

const activate = (
  deps: AccessDeps,
  { provider, connection: { orgId, id: connectionId }, agentId }: SetUp,
  { id, url }: { id: string; url: string },
  { secret, settings, replaced }: { secret: string | null; settings: EndpointSettings; replaced?: string | undefined },
): Promise<void> =>
  deps.db.transaction({ orgId }, async (db) => {
    const sealed = secret === null ? null : deps.secrets.seal(secret, endpointSecretColumn.at(orgId, id))
    await queries.activateEndpoint(db, orgId, id, { secret: sealed, settings })
    if (replaced !== undefined) await queries.closeEndpointAt(db, orgId, connectionId, replaced)
    await audit(db, systemActor(orgId, 'atrium command'), 'endpoint.created', {
      type: 'endpoint',
      id,
      details: {
        provider,
        url,
        connectionId,
        agentId,
        ...(replaced === undefined ? {} : { replaced }),
      },
    })
  })

/** Removes a registration. Returns a sentence for the error message if that fails. */
const undo = async (registration: Registration, call: Call, planned: Planned, remoteId: string | undefined) => {
  try {
    await registration.undo(call, planned, remoteId)
    return ''
  } catch {
    return ` The webhook could not be removed again. Remove it at the provider; its URL is ${planned.url}.`
  }
}

interface RegistrationOfEndpoint {
  asked: SetUp
  registration: Registration
  endpoint: { id: string; url: string }
  found: Found
  call: Call
}

const register = async (
  deps: AccessDeps,
  { asked, registration, endpoint, found, call }: RegistrationOfEndpoint,
): Promise<void> => {
  const secret = (await accountSecret(deps, asked)) ?? randomBytes(32).toString('base64url')
  const planned: Planned = { ...found, url: endpoint.url, secret }
  let remoteId: string | undefined
  try {
    const registered = await registration.register(call, planned)
    remoteId = registered.remoteId
    const settings = settingsOf(asked, found, remoteId === undefined ? {} : { remoteId })
    await activate(deps, asked, endpoint, {
      secret: registered.secret ?? secret,
      settings,
      replaced: found.existing?.url,
    })
  } catch (error) {
    const hint = await undo(registration, call, planned, remoteId)
    if (hint === '' || !(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.message + hint, { cause: error })
  }
  // A failure from here on does not undo the registration: two webhooks are better than none.
  if (found.existing) await registration.removeReplaced?.(call, planned).catch(() => undefined)
  await registration.ping?.(call, planned, remoteId).catch(() => undefined)
}

const findExisting = async (registration: Registration, call: Call, asked: SetUp): Promise<Found> => {
  const isOwnUrl = (url: string): boolean => url.startsWith(asked.baseUrl + pathOf(asked.provider))
  const found = await registration.find(call, asked.target, isOwnUrl)
  if (found.existing && !asked.replace) {
    throw conflict(
      `A webhook already exists: ${found.existing.url}. Add --replace to replace it; it then receives no more events.`,
    )
  }
  return found
}

/**
 * Creates an endpoint for a connection and registers it at the provider, if the provider has an API for it; otherwise
 * it returns what the user has to enter there. A failed setup leaves nothing behind. CONFLICT if it would replace a
 * webhook without `replace`.
 */
export const setUpWebhook = async (deps: AccessDeps, asked: SetUp): Promise<MadeEndpoint> => {
  const { provider, connection, workspaceId, agentId } = asked
  const { orgId, userId } = connection
  const registration = registrations.get(provider)
  // A given secret means that the user has created the webhook at the provider.
  const isRequested = asked.secret === undefined || provider === 'twilio'
  const hasTarget = registration?.targetOption === undefined || asked.target !== undefined
  const isRegistered = registration !== undefined && isRequested && hasTarget
  const call: Call = (request, input = {}) => callConnection(deps, connection, request, { input })
  const credentials = isRegistered ? undefined : credentialsFrom(asked)
  const found: Found = isRegistered
    ? await findExisting(registration, call, asked)
    : { ownIds: await ownIdsOf(call, asked) }
  const id = newId()
  const url = asked.baseUrl + pathOf(provider) + id
  const row = { orgId, id, provider, connectionId: connection.id, userId, workspaceId, agentId, url }
  await deps.db.transaction({ orgId }, (db) => queries.insertEndpoint(db, { ...row, secret: null, settings: {} }))
  try {
    if (isRegistered) await register(deps, { asked, registration, endpoint: { id, url }, found, call })
    else {
      const secret = (await accountSecret(deps, asked)) ?? credentials?.secret ?? null
      const settings = settingsOf(asked, found, credentials?.settings ?? {})
      await activate(deps, asked, { id, url }, { secret, settings })
    }
  } catch (error) {
    await deps.db.transaction({ orgId }, (db) => queries.deleteEndpoint(db, orgId, id))
    throw error
  }
  const generated = credentials?.isGenerated === true && provider !== 'twilio' ? credentials.secret : null
  return {
    endpoint: { id, url },
    ...(generated === null ? {} : { secret: generated }),
    registered: isRegistered,
    ...(found.existing ? { replaced: found.existing.url } : {}),
  }
}
