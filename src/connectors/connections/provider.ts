import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { BuiltRequest, ApiResponse, RequestTemplate, Values } from '../catalog/definition.ts'
import type { ProviderDeps } from '../deps.ts'
import type { Access } from './access.ts'
import { ProviderError } from './provider-error.ts'
import type { ProviderFailure } from './provider-error.ts'
import { prepareRequest } from './request.ts'
import type { PreparedRequest } from './request.ts'
import { createScrubber } from './scrub.ts'
import { at, textAt } from './templates.ts'

const timeoutMs = 30_000
const maxResponseBytes = 1_048_576
const maxRedirects = 5
const maxMessageLength = 500

const send = async (
  deps: ProviderDeps,
  { orgId, connector: { name } }: Access,
  { url, followRedirects, ...request }: PreparedRequest,
  signal: AbortSignal | undefined,
): Promise<{ response: OutboundResponse; url: URL }> => {
  let target = url
  for (let redirects = 0; ; redirects++) {
    let response: OutboundResponse
    try {
      response = await deps.outbound.request(target, {
        ...request,
        orgId,
        timeoutMs: deps.requestTimeoutMs ?? timeoutMs,
        maxBytes: maxResponseBytes,
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      const failure = ['blocked', 'invalid_url'].includes(error.reason) ? 'rejected' : 'unavailable'
      throw new ProviderError(failure, `${name} could not be reached: ${error.message}`, { cause: error })
    }
    const { status, headers } = response
    const { location } = headers
    if (!followRedirects || location === undefined || status < 301 || status > 308) return { response, url: target }
    const next = URL.parse(location, target)
    if (!next || redirects >= maxRedirects) {
      throw new ProviderError('rejected', `${name} redirected more than ${maxRedirects} times.`)
    }
    target = next
  }
}

const parseBody = (text: string, contentType: string, truncated: boolean): unknown => {
  if (!truncated && (/\bjson\b/.test(contentType) || /^\s*[[{]/.test(text))) {
    try {
      // JSON beyond the depth limit stays text, because it could be neither serialized nor stored.
      return parseForeignJson(text)
    } catch {
      return text
    }
  }
  return text
}

const isMarkedAsFailure = ({ connector: { api } }: Access, body: unknown): boolean => {
  if (!api.failure) return false
  const value = at(body, api.failure.path)
  return api.failure.is === 'present' ? value !== undefined && value !== null : value === false
}

const failureOf = (access: Access, status: number, body: unknown): ProviderFailure | undefined => {
  const { credentialErrors = [], errorMessage = [] } = access.connector.api
  if (status === 401) return 'invalid_credentials'
  if (status === 429 || status >= 500) return 'unavailable'
  if (status >= 200 && status <= 299 && !isMarkedAsFailure(access, body)) return undefined
  return errorMessage.some((path) => credentialErrors.includes(textAt(body, path) ?? ''))
    ? 'invalid_credentials'
    : 'rejected'
}

const retryAfterOf = ({ status, headers }: OutboundResponse): number | undefined => {
  const [seconds] = /^\d{1,6}$/.exec(status === 429 || status === 503 ? (headers['retry-after'] ?? '') : '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

const failureMessage = (access: Access, response: OutboundResponse, body: unknown): string => {
  const { status } = response
  const { name, api } = access.connector
  if (status === 429) {
    const seconds = retryAfterOf(response)
    return `${name} limits the rate of requests. Try again ${seconds === undefined ? 'later' : `in ${seconds} s`}.`
  }
  if (status >= 300 && status < 400) return `${name} responded with a redirect (${status}).`
  const message = (api.errorMessage ?? []).map((path) => textAt(body, path)).find((text) => text !== null)
  return `${name} responded with status ${status}${message ? `: ${message.slice(0, maxMessageLength)}` : ''}`
}

/**
 * Sends one request to the provider through the outbound guard. The response body is cut at 1 MB, and the secrets of the
 * request are redacted in it. Throws a ProviderError for every failure, and BAD_REQUEST for arguments that would change
 * the path or host.
 */
export const callProvider = async (
  deps: ProviderDeps,
  access: Access,
  request: RequestTemplate | BuiltRequest,
  { input = {}, signal }: { input?: Values; signal?: AbortSignal | undefined } = {},
): Promise<ApiResponse> => {
  const { name } = access.connector
  const { response, url } = await send(deps, access, prepareRequest(deps, access, request, input), signal)
  const { status, headers, truncated } = response
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ProviderError('unavailable', `${name} sent a compressed response, which was not requested.`)
  }
  const contentType = headers['content-type'] ?? ''
  const text = createScrubber(access)(response.body.toString('utf8'))
  const body = parseBody(text, contentType, truncated)
  const failure = failureOf(access, status, body)
  if (failure) {
    const retryAfterSeconds = retryAfterOf(response)
    throw new ProviderError(failure, failureMessage(access, response, body), { retryAfterSeconds })
  }
  return { status, contentType, body, url: url.href, truncated }
}
