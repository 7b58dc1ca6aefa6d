import type { ConnectorSettings } from '../../config/connectors.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound, OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { Secrets } from './secrets.ts'
import type { BuiltRequest, Connector, ProviderAnswer, RequestTemplate, Values } from '../catalog/definition.ts'
import { createScrubber } from './scrub.ts'
import { at, fillPairs, fill, fillPath, fillText, pathOfSegments, textAt } from './templates.ts'

export interface ProviderDeps {
  config: { connectors: ReadonlyMap<string, ConnectorSettings> }
  outbound: Outbound
  /** Less patience than usual, for tests of providers that have all the time in the world. */
  patienceMs?: number
}

/** With what a provider is spoken to. */
export interface Access {
  /** Whose name look-ups are counted. */
  orgId: string
  connector: Connector
  secrets: Secrets
  accountId: string | null
}

/** `rejected`: it does not take the credentials. `refused`: it will not do this. `unavailable`: it may, later. */
export type ProviderFailure = 'rejected' | 'refused' | 'unavailable'

/** The message names the provider and what it said, secrets cut out: it may be shown to the person and to the model. */
export class ProviderError extends ApiError {
  readonly failure: ProviderFailure
  /** How long the provider asks to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor(failure: ProviderFailure, message: string, cause?: unknown, retryAfterSeconds?: number) {
    super(failure === 'unavailable' ? 'SERVICE_UNAVAILABLE' : 'BAD_REQUEST', message, { cause })
    this.name = 'ProviderError'
    this.failure = failure
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const timeoutMs = 30_000
const maxAnswerBytes = 1_048_576
const maxRedirects = 5

export const settingsOf = ({ config }: Pick<ProviderDeps, 'config'>, { slug }: Connector): ConnectorSettings =>
  config.connectors.get(slug) ?? {}

/** A URL of the connector as the operator wants it, and whether it is the operator's word. */
export const endpoint = (
  deps: Pick<ProviderDeps, 'config'>,
  connector: Connector,
  url: string,
): { url: URL; trusted: boolean } => {
  const { baseUrl } = settingsOf(deps, connector)
  const parsed = new URL(url)
  if (baseUrl === undefined) return { url: parsed, trusted: false }
  return { url: new URL(baseUrl + parsed.pathname + parsed.search), trusted: true }
}

const valuesOf = ({ secrets, accountId }: Access): Values => ({
  ...secrets,
  ...(accountId === null ? {} : { accountId }),
})

/** Where the connection's API is: the connector's own place, or the one that a credential names. */
const baseOf = ({ connector: { api }, secrets }: Access): string => {
  const named = api.baseUrlField === undefined ? undefined : secrets[api.baseUrlField]
  return named ?? api.baseUrl ?? 'https://invalid.invalid'
}

const withoutSlash = (path: string): string => path.replace(/\/+$/, '')

/** Below the API's own path, whatever the arguments are: the check at the end catches what nobody thought of. */
const urlBelow = (base: URL, path: string, query: readonly (readonly [string, string])[]): URL => {
  const url = new URL(base)
  const beginning = withoutSlash(base.pathname)
  url.pathname = beginning + path
  for (const [name, value] of query) url.searchParams.append(name, value)
  if (url.origin !== base.origin || url.pathname !== beginning + path) throw badRequest('The path is not acceptable.')
  return url
}

const headerText = /^[\t\x20-\x7e\x80-\xff]*$/
const headerName = /^[A-Za-z0-9-]{1,64}$/
/** Those that say how a message is carried or where it goes, not what is in it. */
const carriers =
  /^(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-.*|proxy-.*|sec-.*)$/i

const authHeaders = (access: Access): Record<string, string> => {
  const { api, auth } = access.connector
  const values = valuesOf(access)
  const headers: Record<string, string> = {}
  for (const [name, template] of Object.entries(api.headers ?? {})) {
    const [filled, value] = [fillText(name, values), fillText(template, values)]
    if (value === '') continue
    if (!headerName.test(filled) || carriers.test(filled) || !headerText.test(value)) {
      throw badRequest('The credentials cannot be sent as a header.')
    }
    headers[filled.toLowerCase()] = value
  }
  if (api.basic) {
    const [user, password] = api.basic.map((template) => fillText(template, values))
    headers['authorization'] = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  }
  if (auth.type === 'oauth') headers['authorization'] ??= `Bearer ${access.secrets['accessToken']}`
  return headers
}

const usualHeaders = { accept: 'application/json', 'user-agent': 'Atrium' }

/** BAD_REQUEST for credentials that no request could be made with. */
export const checkAuthHeaders = (access: Access): void => void authHeaders(access)

type Pairs = [string, string][]

/** A request whose arguments are in their places. */
interface Shape {
  method: string
  path: string
  /** Not below the API's prefix. */
  isOutside: boolean
  query: Pairs
  json: unknown
  form: Pairs | undefined
  headers: Readonly<Record<string, string>>
  /** In place of the API. */
  url: string | undefined
}

const pairsOf = (query: BuiltRequest['query'] = {}): Pairs =>
  Object.entries(query).flatMap(([name, value]): Pairs => (value === undefined ? [] : [[name, String(value)]]))

const shapeOf = (request: RequestTemplate | BuiltRequest, input: Values): Shape => {
  const { method, headers = {} } = request
  if (!('path' in request)) {
    const { segments = [], query, json, url } = request
    const path = pathOfSegments(segments)
    return { method, path, isOutside: false, query: pairsOf(query), json, form: undefined, headers, url }
  }
  return {
    method,
    path: fillPath(request.path, input),
    isOutside: request.outsidePrefix === true,
    query: fillPairs(request.query, input),
    json: request.json === undefined ? undefined : fill(request.json, input),
    form: request.form && fillPairs(request.form, input),
    headers,
    url: undefined,
  }
}

interface Prepared {
  url: URL
  trusted: boolean
  method: string
  headers: Record<string, string>
  body?: string
  /** Redirects are answers, unless somebody named the URL. */
  follow: boolean
}

const bodyOf = ({ json, form }: Shape): { headers: Record<string, string>; body?: string } => {
  if (json !== undefined) return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
  if (!form) return { headers: {} }
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  }
}

const prepare = (deps: ProviderDeps, access: Access, shape: Shape): Prepared => {
  const { connector } = access
  const { headers: typed, ...body } = bodyOf(shape)
  const own = { ...shape.headers, ...typed }
  const { method } = shape
  if (shape.url !== undefined) {
    const headers = { ...usualHeaders, ...own }
    return { method, headers, ...body, url: new URL(shape.url), trusted: false, follow: method === 'GET' }
  }
  const { url, trusted } = endpoint(deps, connector, baseOf(access))
  const { pathPrefix } = connector.api
  const prefix = pathPrefix === undefined || shape.isOutside ? '' : fillPath(pathPrefix, valuesOf(access))
  const headers = { ...usualHeaders, ...authHeaders(access), ...own }
  return { method, headers, ...body, url: urlBelow(url, prefix + shape.path, shape.query), trusted, follow: false }
}

const send = async (
  deps: ProviderDeps,
  { orgId, connector: { name } }: Access,
  { url, follow, ...request }: Prepared,
  signal: AbortSignal | undefined,
): Promise<{ answer: OutboundResponse; url: URL }> => {
  let target = url
  for (let redirects = 0; ; redirects++) {
    let answer: OutboundResponse
    try {
      answer = await deps.outbound.request(target, {
        ...request,
        orgId,
        timeoutMs: deps.patienceMs ?? timeoutMs,
        maxBytes: maxAnswerBytes,
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      const failure = ['blocked', 'invalid_url'].includes(error.reason) ? 'refused' : 'unavailable'
      throw new ProviderError(failure, `${name} could not be reached: ${error.message}`, error)
    }
    const location = answer.headers['location']
    if (!follow || location === undefined || answer.status < 301 || answer.status > 308) return { answer, url: target }
    const next = URL.parse(location, target)
    if (!next || redirects >= maxRedirects) throw new ProviderError('refused', `${name} redirected without end.`)
    target = next
  }
}

const parseBody = (text: string, contentType: string, truncated: boolean): unknown => {
  if (!truncated && (/\bjson\b/.test(contentType) || /^\s*[[{]/.test(text))) {
    try {
      // Deeper JSON stays text: it could neither be written again nor stored.
      return parseForeignJson(text)
    } catch {
      return text
    }
  }
  return text
}

const said = ({ connector: { api } }: Access, body: unknown): string => {
  const message = (api.errorMessage ?? []).map((path) => textAt(body, path)).find((text) => text !== null)
  return message ? `: ${message.slice(0, 500)}` : ''
}

const isFailure = ({ connector: { api } }: Access, body: unknown): boolean => {
  if (!api.failure) return false
  const value = at(body, api.failure.path)
  return api.failure.is === 'present' ? value !== undefined && value !== null : value === false
}

const failureOf = (access: Access, status: number, body: unknown): ProviderFailure | undefined => {
  const { rejections = [], errorMessage = [] } = access.connector.api
  if (status === 401) return 'rejected'
  if (status === 429 || status >= 500) return 'unavailable'
  const hasFailed = status < 200 || status > 299 || isFailure(access, body)
  if (!hasFailed) return undefined
  return errorMessage.some((path) => rejections.includes(textAt(body, path) ?? '')) ? 'rejected' : 'refused'
}

const waitOf = ({ status, headers }: OutboundResponse): number | undefined => {
  const [seconds] = /^\d{1,6}$/.exec(status === 429 || status === 503 ? (headers['retry-after'] ?? '') : '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

const failureMessage = (access: Access, answer: OutboundResponse, body: unknown): string => {
  const { status } = answer
  const { name } = access.connector
  if (status === 429) {
    const wait = waitOf(answer)
    return `${name} wants fewer requests${wait === undefined ? '' : `: try again in ${wait} s`}.`
  }
  if (status >= 300 && status < 400) return `${name} answered with a redirect (${status}).`
  return `${name} answered ${status}${said(access, body)}`
}

/**
 * One request to the provider: below the connector's API, through the outbound guard, its answer cut at 1 MB and without
 * the secrets that it was made with. Throws a ProviderError for everything that is not a success, and BAD_REQUEST for
 * arguments that would lead elsewhere.
 */
export const callProvider = async (
  deps: ProviderDeps,
  access: Access,
  request: RequestTemplate | BuiltRequest,
  { input = {}, signal }: { input?: Values; signal?: AbortSignal | undefined } = {},
): Promise<ProviderAnswer> => {
  const { name } = access.connector
  const { answer, url } = await send(deps, access, prepare(deps, access, shapeOf(request, input)), signal)
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    throw new ProviderError('unavailable', `${name} answered compressed, which it was asked not to do.`)
  }
  const contentType = answer.headers['content-type'] ?? ''
  const text = createScrubber(access)(answer.body.toString('utf8'))
  const body = parseBody(text, contentType, answer.truncated)
  const failure = failureOf(access, answer.status, body)
  if (failure) throw new ProviderError(failure, failureMessage(access, answer, body), undefined, waitOf(answer))
  return { status: answer.status, contentType, body, url: url.href, truncated: answer.truncated }
}
