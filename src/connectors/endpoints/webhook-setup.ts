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
import type { AccessDeps } from '../oauth/refresh.ts'
import { textAt } from '../connections/templates.ts'

/** What a person asks for. */
export interface SetUp {
  provider: string
  connection: { orgId: string; id: string; userId: string }
  workspaceId: string
  agentId: string | null
  /** `https://hooks.example.com`, checked. */
  baseUrl: string
  /** A repository, a number, a team. */
  target?: string | undefined
  /** What the provider issued. */
  secret?: string | undefined
  publicKey?: string | undefined
  serviceAccount?: string | undefined
  /** Takes the place of the webhook that is there. */
  replace: boolean
}

export interface MadeEndpoint {
  endpoint: { id: string; url: string }
  /** To be pasted at the provider. */
  secret?: string
  registered: boolean
  /** The webhook that was there before. */
  replaced?: string
}

/**
 * The address that providers are to call: https, and not somewhere inside. BAD_REQUEST otherwise. Outside production
 * anything goes, as tests and tunnels need it.
 */
export const checkBaseUrl = async (
  baseUrl: string | undefined,
  { isProduction, ports }: { isProduction: boolean; ports: readonly number[] | undefined },
): Promise<string> => {
  if (baseUrl === undefined) {
    throw badRequest(
      'CONNECTOR_WEBHOOK_BASE_URL is not set: the public https URL under which providers reach this server.',
    )
  }
  if (!isProduction) return baseUrl
  const url = new URL(baseUrl)
  if (url.protocol !== 'https:') throw badRequest('CONNECTOR_WEBHOOK_BASE_URL must be an https URL.')
  // No range that the operator opened counts here: the provider is not inside it.
  const outbound = createOutbound()
  try {
    await outbound.checkUrl(baseUrl)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw badRequest(`CONNECTOR_WEBHOOK_BASE_URL is no URL that providers can reach. ${error.message}`, {
      cause: error,
    })
  } finally {
    await outbound.close()
  }
  const port = url.port === '' ? 443 : Number(url.port)
  if (ports && !ports.includes(port)) {
    throw badRequest(
      `This provider connects to the ports ${ports.join(', ')} only; CONNECTOR_WEBHOOK_BASE_URL names ${port}.`,
    )
  }
  return baseUrl
}

const pathOf = (provider: string): string => `${apiPrefix}/connectors/webhooks/${provider}/`

const text = (value: string | undefined, option: string, why: string): string => {
  if (value === undefined || value.trim() === '') throw badRequest(`--${option} is missing: ${why}.`)
  return value.trim()
}

/** What an endpoint verifies by, where that is not registered by API: what the provider issued, or a secret to paste. */
const proofOf = (asked: SetUp): { secret: string | null; settings: EndpointSettings; isOurs: boolean } => {
  const { provider } = asked
  if (provider === 'discord') {
    const publicKey = text(
      asked.publicKey,
      'public-key',
      'the public key of the application, from its General Information',
    )
    if (!discordKey(publicKey)) throw badRequest('--public-key must be 64 hexadecimal digits.')
    return { secret: null, settings: { publicKey }, isOurs: false }
  }
  if (provider === 'gmail') {
    const why = "the e-mail address of the service account that pushes, from the subscription's authentication"
    const serviceAccount = text(asked.serviceAccount, 'service-account', why)
    return { secret: null, settings: { serviceAccount }, isOurs: false }
  }
  if (provider === 'slack') {
    const secret = text(asked.secret, 'secret', 'the signing secret of the app, from its Basic Information')
    return { secret, settings: {}, isOurs: false }
  }
  const secret = asked.secret?.trim()
  if (secret !== undefined && secret.length < 8) throw badRequest('--secret must have at least 8 characters.')
  return { secret: secret ?? randomBytes(32).toString('base64url'), settings: {}, isOurs: secret === undefined }
}

/** How the account of a connection is asked who it is, where what it writes comes back as an event. */
const selves: Record<string, { path: string; id: string }> = {
  github: { path: '/user', id: 'login' },
  jira: { path: '/rest/api/3/myself', id: 'accountId' },
}

/** As whom the agent writes there: without knowing, it would answer itself without end. */
const ownIdsOf = async (call: Call, { provider, agentId, target }: SetUp): Promise<string[]> => {
  if (provider === 'twilio') return target === undefined ? [] : [target]
  const self = agentId === null ? undefined : selves[provider]
  if (!self) return []
  const id = textAt((await call({ method: 'GET', path: self.path })).body, self.id)
  if (id === null) throw badRequest('The provider does not tell who the connection is.')
  return [id]
}

/** Twilio signs with the token of the account itself. */
const accountSecret = (deps: AccessDeps, { provider, connection }: SetUp): Promise<string | undefined> =>
  provider === 'twilio'
    ? withConnection(deps, connection, async ({ secrets }) => secrets['authToken'])
    : Promise.resolve(undefined)

const settingsFrom = (asked: SetUp, found: Found, more: EndpointSettings): EndpointSettings => {
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
    await audit(
      db,
      systemActor(orgId, 'atrium command'),
      'endpoint.created',
      { type: 'endpoint', id },
      {
        provider,
        url,
        connectionId,
        agentId,
        ...(replaced === undefined ? {} : { replaced }),
      },
    )
  })

/** Takes back what was done, and says what could not be. */
const undo = async (registration: Registration, call: Call, planned: Planned, remoteId: string | undefined) => {
  try {
    await registration.undo(call, planned, remoteId)
    return ''
  } catch {
    return ` The webhook could not be removed again: do so at the provider, its URL is ${planned.url}.`
  }
}

const register = async (
  deps: AccessDeps,
  asked: SetUp,
  registration: Registration,
  endpoint: { id: string; url: string },
  found: Found,
  call: Call,
): Promise<void> => {
  const secret = (await accountSecret(deps, asked)) ?? randomBytes(32).toString('base64url')
  const planned: Planned = { ...found, url: endpoint.url, secret }
  let remoteId: string | undefined
  try {
    const made = await registration.register(call, planned)
    remoteId = made.remoteId
    const settings = settingsFrom(asked, found, remoteId === undefined ? {} : { remoteId })
    await activate(deps, asked, endpoint, { secret: made.secret ?? secret, settings, replaced: found.existing?.url })
  } catch (error) {
    const left = await undo(registration, call, planned, remoteId)
    if (left === '' || !(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.message + left, { cause: error })
  }
  // What follows is not worth undoing everything for: two webhooks are better than none.
  if (found.existing) await registration.removeReplaced?.(call, planned).catch(() => undefined)
  await registration.ping?.(call, planned, remoteId).catch(() => undefined)
}

const lookFirst = async (registration: Registration, call: Call, asked: SetUp): Promise<Found> => {
  const isOurs = (url: string): boolean => url.startsWith(asked.baseUrl + pathOf(asked.provider))
  const wishes = asked.target === undefined ? {} : { target: asked.target }
  const found = await registration.look(call, wishes, isOurs)
  if (found.existing && !asked.replace) {
    throw conflict(
      `There is a webhook already: ${found.existing.url}. It would be replaced and get nothing any more. To do that, add --replace.`,
    )
  }
  return found
}

/**
 * Makes an endpoint for a connection and registers it at the provider, where that has an API for it; else what has to be
 * pasted there is answered. Nothing is left of it when that fails. CONFLICT when it would replace a webhook.
 */
export const setUpWebhook = async (deps: AccessDeps, asked: SetUp): Promise<MadeEndpoint> => {
  const { provider, connection, workspaceId, agentId } = asked
  const { orgId, userId } = connection
  const known = registrations.get(provider)
  // Whoever brings a secret has a webhook at the provider already, or makes it there.
  const isWanted = asked.secret === undefined || provider === 'twilio'
  const hasTarget = known?.targetOption === undefined || asked.target !== undefined
  const isRegistered = known !== undefined && isWanted && hasTarget
  const call: Call = (request, input = {}) => callConnection(deps, connection, request, { input })
  const proof = isRegistered ? undefined : proofOf(asked)
  const found: Found = isRegistered ? await lookFirst(known, call, asked) : { ownIds: await ownIdsOf(call, asked) }
  const id = newId()
  const url = asked.baseUrl + pathOf(provider) + id
  const row = { orgId, id, provider, connectionId: connection.id, userId, workspaceId, agentId, url }
  await queries.insertEndpoint(deps.db, { ...row, secret: null, settings: {} })
  try {
    if (isRegistered) await register(deps, asked, known, { id, url }, found, call)
    else {
      const secret = (await accountSecret(deps, asked)) ?? proof?.secret ?? null
      await activate(deps, asked, { id, url }, { secret, settings: settingsFrom(asked, found, proof?.settings ?? {}) })
    }
  } catch (error) {
    await queries.deleteEndpoint(deps.db, orgId, id)
    throw error
  }
  const isShown = proof?.isOurs === true && proof.secret !== null && provider !== 'twilio'
  return {
    endpoint: { id, url },
    ...(isShown ? { secret: proof.secret as string } : {}),
    registered: isRegistered,
    ...(found.existing ? { replaced: found.existing.url } : {}),
  }
}
