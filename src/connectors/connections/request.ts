import { badRequest } from '../../platform/http/errors.ts'
import type { BuiltRequest, RequestTemplate, Values } from '../catalog/definition.ts'
import type { ProviderDeps } from '../deps.ts'
import { providerUrl } from './access.ts'
import type { Access } from './access.ts'
import { fill, fillPairs, fillPath, fillText, hasAll, pathOfSegments } from './templates.ts'

type Pairs = [string, string][]

/** A request with its arguments filled in, still without credentials. */
interface FilledRequest {
  method: string
  path: string
  outsidePrefix: boolean
  query: Pairs
  json: unknown
  form: Pairs | undefined
  headers: Readonly<Record<string, string>>
  /** An absolute URL instead of the connector's API. */
  url: string | undefined
  /** An absolute URL of the connector's API. */
  endpoint: string | undefined
}

/** A request that can be sent. */
export interface PreparedRequest {
  url: URL
  trusted: boolean
  method: string
  headers: Record<string, string>
  body?: string
  /** Only requests to absolute URLs follow redirects: a redirect must not send credentials to another host. */
  followRedirects: boolean
}

const credentialsOf = ({ secrets, accountId }: Access): Values => ({
  ...secrets,
  ...(accountId === null ? {} : { accountId }),
})

const baseUrlOf = ({ connector: { api }, secrets }: Access): string => {
  const fromCredentials = api.baseUrlField === undefined ? undefined : secrets[api.baseUrlField]
  // Connectors without a base URL, such as `web`, send requests to absolute URLs only.
  return fromCredentials ?? api.baseUrl ?? 'https://invalid.invalid'
}

/** Appends a path. The final comparison rejects any path that URL parsing would resolve to somewhere else. */
const appendPath = (base: URL, path: string, query: Pairs): URL => {
  const url = new URL(base)
  const pathname = base.pathname.replace(/\/+$/, '') + path
  url.pathname = pathname
  for (const [name, value] of query) url.searchParams.append(name, value)
  if (url.origin !== base.origin || url.pathname !== pathname) throw badRequest('The path is not valid.')
  return url
}

const headerText = /^[\t\x20-\x7e\x80-\xff]*$/
const headerName = /^[A-Za-z0-9-]{1,64}$/
/** Headers that control routing and framing. A credential in one of them could smuggle a request. */
const reservedHeaders =
  /^(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-.*|proxy-.*|sec-.*)$/i

const authHeaders = (access: Access): Record<string, string> => {
  const { api, auth } = access.connector
  const credentials = credentialsOf(access)
  const headers: Record<string, string> = {}
  for (const [nameTemplate, template] of Object.entries(api.headers ?? {})) {
    if (!hasAll(nameTemplate, credentials) || !hasAll(template, credentials)) continue
    const [name, value] = [fillText(nameTemplate, credentials), fillText(template, credentials)]
    if (value === '') continue
    if (!headerName.test(name) || reservedHeaders.test(name) || !headerText.test(value)) {
      throw badRequest('The credentials are not a valid HTTP header.')
    }
    headers[name.toLowerCase()] = value
  }
  if (api.basic) {
    const [user, password] = api.basic.map((template) => fillText(template, credentials))
    headers['authorization'] = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  }
  if (auth.type === 'oauth') headers['authorization'] ??= `Bearer ${access.secrets['accessToken']}`
  return headers
}

const defaultHeaders = { accept: 'application/json', 'user-agent': 'Atrium' }

/** BAD_REQUEST for credentials that cannot be sent as HTTP headers. */
export const checkAuthHeaders = (access: Access): void => void authHeaders(access)

const pairsOf = (query: BuiltRequest['query'] = {}): Pairs =>
  Object.entries(query).flatMap(([name, value]): Pairs => (value === undefined ? [] : [[name, String(value)]]))

const fillRequest = (request: RequestTemplate | BuiltRequest, input: Values): FilledRequest => {
  const { method, headers = {} } = request
  if (!('path' in request)) {
    const { segments = [], query, json, url, endpoint } = request
    const path = pathOfSegments(segments)
    return { method, path, outsidePrefix: false, query: pairsOf(query), json, form: undefined, headers, url, endpoint }
  }
  return {
    method,
    path: fillPath(request.path, input),
    outsidePrefix: request.outsidePrefix === true,
    query: fillPairs(request.query, input),
    json: request.json === undefined ? undefined : fill(request.json, input),
    form: request.form && fillPairs(request.form, input),
    headers,
    url: undefined,
    endpoint: undefined,
  }
}

const bodyOf = ({ json, form }: FilledRequest): { headers: Record<string, string>; body?: string } => {
  if (json !== undefined) return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
  if (!form) return { headers: {} }
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  }
}

/** Fills in the arguments and adds the credentials. BAD_REQUEST for arguments that would change the path or host. */
export const prepareRequest = (
  deps: ProviderDeps,
  access: Access,
  request: RequestTemplate | BuiltRequest,
  input: Values,
): PreparedRequest => {
  const filled = fillRequest(request, input)
  const { headers: bodyHeaders, ...body } = bodyOf(filled)
  const ownHeaders = { ...filled.headers, ...bodyHeaders }
  const { method } = filled
  if (filled.url !== undefined) {
    const headers = { ...defaultHeaders, ...ownHeaders }
    return { method, headers, ...body, url: new URL(filled.url), trusted: false, followRedirects: method === 'GET' }
  }
  if (filled.endpoint !== undefined && new URL(filled.endpoint).origin !== new URL(baseUrlOf(access)).origin) {
    throw badRequest('The URL is not valid.')
  }
  const { url, trusted } = providerUrl(deps, access.connector, filled.endpoint ?? baseUrlOf(access))
  const { pathPrefix } = access.connector.api
  const prefix = pathPrefix === undefined || filled.outsidePrefix ? '' : fillPath(pathPrefix, credentialsOf(access))
  const headers = { ...defaultHeaders, ...authHeaders(access), ...ownHeaders }
  const target = filled.endpoint === undefined ? appendPath(url, prefix + filled.path, filled.query) : url
  return { method, headers, ...body, url: target, trusted, followRedirects: false }
}
