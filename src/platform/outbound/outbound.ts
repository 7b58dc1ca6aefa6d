import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { buildConnector } from 'undici'
import { startDeadline, until } from './deadline.ts'
import { badRequest } from '../http/errors.ts'
import { OutboundError } from './failure.ts'
import type { OutboundFailure } from './failure.ts'
import { discard, readUpTo, toResponse } from './response.ts'
import { limitLookups, lookUpFor } from './lookup-limits.ts'
import { limitOverhead } from './overhead.ts'
import { createNameResolution } from './name-resolution.ts'
import type { Resolve, Resolved } from './name-resolution.ts'
import { createRange, isPublicAddress } from './public-addresses.ts'
import type { Cidr } from './public-addresses.ts'

export { OutboundError } from './failure.ts'
export type { OutboundFailure } from './failure.ts'

/** The org that a request is made for. */
export interface OnBehalf {
  /**
   * The org whose user named the URL or owns the connection. Its concurrent name look-ups are limited: beyond the limit
   * its own requests wait, and those of other orgs do not. Requests without an org share one limit.
   */
  orgId?: string | undefined
}

export interface OutboundRequest extends OnBehalf {
  /** GET by default. */
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** For the whole request: name look-up, connection, response and its body. */
  timeoutMs: number
  /** The body of the response is cut here, and the connection is closed. */
  maxBytes: number
  signal?: AbortSignal
  /** Skips the address check. Only for a base URL that the operator configured, never for a URL of a user. */
  trusted?: boolean
}

export interface OutboundResponse {
  status: number
  /** Names in lower case. Repeated headers are joined by commas. */
  headers: Record<string, string>
  /** Not decompressed. */
  body: Buffer
  truncated: boolean
  durationMs: number
}

/** The client for all requests to URLs that users name. */
export interface Outbound {
  /** Follows no redirects. Returns a response of any status, and throws an OutboundError when there is none. */
  request(url: string | URL, options: OutboundRequest): Promise<OutboundResponse>
  /**
   * For libraries that need a `fetch` and for streamed responses: the same checks, redirects are returned, no
   * compression, and no deadline except the caller's `signal`. `trusted` as in a request.
   */
  fetch(url: string | URL, init?: RequestInit & OnBehalf & { trusted?: boolean }): Promise<Response>
  /**
   * Checks a URL when it is stored: BAD_REQUEST when requests to it are not allowed. A name that does not resolve at the
   * moment passes, because every connection is checked again.
   */
  checkUrl(url: string, of?: OnBehalf): Promise<URL>
  /** As `checkUrl`. Returns the URL as it is requested, without characters that parsers of URLs drop or replace. */
  cleanUrl(url: string, of?: OnBehalf): Promise<string>
  close(): Promise<void>
}

export type { Resolved } from './name-resolution.ts'

export interface OutboundOptions {
  /** Ranges that are allowed although they are not public, on every port. */
  allowCidrs?: readonly Cidr[]
  /** Name resolution; the hosts file and the name servers by default. */
  resolve?: Resolve
}

const connectTimeoutMs = 10_000
const checkResolveMs = 2_000

const notPublic = 'The URL leads to an address that is not on the public Internet.'
const badPort = 'The port of the URL must be 80, 443 or 1024–65535.'

const blocked = (message: string): OutboundError => new OutboundError('blocked', message)

const parseUrl = (url: string | URL): URL => {
  const parsed = URL.parse(String(url))
  if (!parsed || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') || parsed.hostname === '') {
    throw new OutboundError('invalid_url', 'The URL is not a valid http or https URL.')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new OutboundError('invalid_url', 'The URL must not contain a user name or password.')
  }
  return parsed
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

const portOf = (url: { port: string; protocol: string }): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

// Names that are not on the Internet. They are rejected unless a private range is allowed, because they may not resolve
// when the URL is stored and resolve to an internal address when it is used.
const isPrivateName = (hostname: string): boolean => {
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/.test(name)
}

/** Decides which addresses and ports are allowed. */
const createRule = ({ allowCidrs = [], resolve: resolveName = createNameResolution() }: OutboundOptions) => {
  const resolve = limitLookups(resolveName)
  const isAllowed = createRange(allowCidrs)
  // Ports below 1024 belong to other services, such as mail. In an allowed range, the operator decided.
  const isAllowedPort = (port: number): boolean => port === 80 || port === 443 || port >= 1024
  const rejectionOf = (address: string, port: number): string | undefined => {
    if (isAllowed(address)) return undefined
    if (!isPublicAddress(address)) return notPublic
    return isAllowedPort(port) ? undefined : badPort
  }
  const checkAll = (addresses: Resolved[], port: number): void => {
    for (const { address } of addresses) {
      const rejection = rejectionOf(address, port)
      if (rejection !== undefined) throw blocked(rejection)
    }
  }
  const resolveChecked = async (hostname: string, port: number): Promise<Resolved[]> => {
    if (allowCidrs.length === 0 && isPrivateName(hostname)) throw blocked(notPublic)
    let addresses: Resolved[]
    try {
      addresses = await resolve(hostname)
    } catch (error) {
      throw new OutboundError('dns_error', 'The host name of the URL could not be resolved.', { cause: error })
    }
    if (addresses.length === 0) throw new OutboundError('dns_error', 'The host name of the URL has no address.')
    // One private address among public ones is enough to reject the name: the connection may use any of them.
    checkAll(addresses, port)
    return addresses
  }
  return { rejectionOf, resolveChecked, isAllowedPort }
}
type Rule = ReturnType<typeof createRule>

const lookupFor = (rule: Rule, port: number): LookupFunction => {
  const answer = async (...[hostname, options, callback]: Parameters<LookupFunction>): Promise<void> => {
    let addresses: Resolved[]
    try {
      addresses = await rule.resolveChecked(hostname, port)
    } catch (error) {
      callback(error as Error, '', 0)
      return
    }
    const [first] = addresses as [Resolved]
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  }
  return (...asked) => void answer(...asked)
}

/**
 * Connects to exactly the addresses that were checked. A lookup hook alone is not enough, because it is not called for
 * literal addresses. The peer's address is checked as well, before the first byte of the request.
 */
const createGuardedConnector = (rule: Rule, build: typeof buildConnector): buildConnector.connector => {
  const options = { allowH2: false, timeout: connectTimeoutMs }
  const usual = build({ ...options, lookup: lookupFor(rule, 443) })
  return (target, callback) => {
    const hostname = withoutBrackets(target.hostname)
    const port = portOf(target)
    if (isIP(hostname) !== 0) {
      const rejection = rule.rejectionOf(hostname, port)
      if (rejection !== undefined) {
        callback(blocked(rejection), null)
        return
      }
    }
    // Unusual ports get their own connector, because the lookup hook does not know the port.
    const connect = rule.isAllowedPort(port) ? usual : build({ ...options, lookup: lookupFor(rule, port) })
    connect({ ...target, hostname }, (...[error, socket]) => {
      if (error) {
        callback(error, null)
        return
      }
      const rejection = rule.rejectionOf(socket.remoteAddress ?? '', port)
      if (rejection === undefined) {
        limitOverhead(socket)
        callback(null, socket)
      } else {
        socket.destroy()
        callback(blocked(rejection), null)
      }
    })
  }
}

const createOpenConnector = (build: typeof buildConnector): buildConnector.connector => {
  const connect = build({ allowH2: false, timeout: connectTimeoutMs })
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error) {
        callback(error, null)
        return
      }
      limitOverhead(socket)
      callback(null, socket)
    })
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''

const isTlsCode = (code: string): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/.test(code)

const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const unreachableCodes = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** Converts the error of a library. When several addresses failed, the error of the first one counts. */
const toFailure = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  if (error instanceof Error && error.cause instanceof OutboundError) return error.cause
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = codeOf(inner)
  const made = (reason: OutboundFailure, message: string): OutboundError =>
    new OutboundError(reason, message, { cause: error })
  const isTimeout = inner instanceof Error && (inner.name === 'TimeoutError' || code === 'ETIMEDOUT')
  if (isTimeout || code === 'UND_ERR_CONNECT_TIMEOUT') return made('timeout', 'There was no complete response in time.')
  if (code === 'ECONNREFUSED') return made('connection_refused', 'The connection was refused.')
  if (resetCodes.has(code))
    return made('connection_reset', 'The connection was closed before the response was complete.')
  if (isTlsCode(code)) return made('tls_error', `The TLS handshake failed (${code}).`)
  if (unreachableCodes.has(code)) return made('network_error', 'The address could not be reached.')
  return made('network_error', 'The request failed, or the response was not HTTP.')
}

const flatHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter((entry): entry is [string, string | string[]] => entry[1] !== undefined)
      .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]),
  )

const textOf = (header: string | string[] | undefined): string => [header ?? ''].flat().join(', ')
const isEncoded = (encoding: string): boolean => !/^(identity)?$/i.test(encoding.trim())

const openClients = async (rule: Rule) => {
  const { Agent, buildConnector, request } = await import('undici')
  // Each request has one deadline of its own for everything. A server cannot keep its idle connection open for long.
  const options = { headersTimeout: 0, bodyTimeout: 0, keepAliveMaxTimeout: 30_000 }
  return {
    request,
    guarded: new Agent({ ...options, connect: createGuardedConnector(rule, buildConnector) }),
    open: new Agent({ ...options, connect: createOpenConnector(buildConnector) }),
  }
}

/** The clients, loaded at the first request, because the library uses 4 MB. */
const createClients = (rule: Rule) => {
  let opening: ReturnType<typeof openClients> | undefined
  return {
    open: () => (opening ??= openClients(rule)),
    close: async (): Promise<void> => {
      const opened = await opening
      await Promise.all([opened?.guarded.destroy(), opened?.open.destroy()])
    },
  }
}

const createUrlCheck =
  (rule: Rule): Outbound['checkUrl'] =>
  async (text, { orgId } = {}) => {
    try {
      const url = parseUrl(text)
      const hostname = withoutBrackets(url.hostname)
      if (isIP(hostname) !== 0) {
        const rejection = rule.rejectionOf(hostname, portOf(url))
        if (rejection !== undefined) throw blocked(rejection)
        return url
      }
      // A slow or unreachable resolver must not delay storing a URL.
      const looked = lookUpFor(orgId, () => rule.resolveChecked(hostname, portOf(url)))
      const resolving = looked.catch((error: unknown) => {
        if (!(error instanceof OutboundError && error.reason === 'dns_error')) throw error
        if (!rule.isAllowedPort(portOf(url))) throw blocked(badPort)
      })
      await Promise.race([resolving, delay(checkResolveMs, undefined, { ref: false })])
      return url
    } catch (error) {
      throw badRequest(toFailure(error).message, { cause: error })
    }
  }

const createUrlCleaner =
  (check: Outbound['checkUrl']): Outbound['cleanUrl'] =>
  async (text, of) => {
    const { href } = await check(text, of)
    // An origin stays as it was sent.
    return href === `${text}/` ? text : href
  }

/** Nothing connects before the first request. */
export const createOutbound = (options: OutboundOptions = {}): Outbound => {
  const rule = createRule(options)
  const checkUrl = createUrlCheck(rule)
  const clients = createClients(rule)

  const request: Outbound['request'] = async (target, { trusted = false, orgId, ...given }) => {
    const url = parseUrl(target)
    const began = performance.now()
    const { signal, end } = startDeadline(given.timeoutMs, given.signal)
    const exchange = async () => {
      // Not `fetch`: it decompresses, and a small response could become gigabytes.
      const { request: send, open, guarded } = await clients.open()
      const options = {
        dispatcher: trusted ? open : guarded,
        method: given.method ?? 'GET',
        headers: { 'accept-encoding': 'identity', ...given.headers },
        body: given.body ?? null,
        signal,
      }
      const answer = await lookUpFor(orgId, () => send(url, options))
      return { answer, ...(await readUpTo(answer.body, given.maxBytes)) }
    }
    try {
      signal.throwIfAborted()
      const { answer, bytes, truncated } = await until(signal, exchange())
      return {
        status: answer.statusCode,
        headers: flatHeaders(answer.headers),
        body: bytes,
        truncated,
        durationMs: Math.round(performance.now() - began),
      }
    } catch (error) {
      // An abort by the caller is not a failure of the server.
      if (given.signal?.aborted && signal.reason === given.signal.reason) throw signal.reason
      throw toFailure(error)
    } finally {
      end()
    }
  }

  const guardedFetch: Outbound['fetch'] = async (target, { trusted = false, orgId, ...init } = {}) => {
    const url = parseUrl(target)
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    const { request: send, open, guarded } = await clients.open()
    // Not undici's `fetch`: it copies the request and the body several times, and a short response costs twice as much.
    const options = {
      dispatcher: trusted ? open : guarded,
      method: init.method ?? 'GET',
      headers: Object.fromEntries(headers),
      body: (init.body ?? null) as string | Uint8Array | null,
      signal: init.signal ?? null,
    }
    const answer = await lookUpFor(orgId, () => send(url, options)).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      throw toFailure(error)
    })
    if (isEncoded(textOf(answer.headers['content-encoding']))) {
      discard(answer.body)
      throw new OutboundError('network_error', 'The response is compressed although no compression was requested.')
    }
    return toResponse(answer)
  }

  return {
    request,
    fetch: guardedFetch,
    checkUrl,
    cleanUrl: createUrlCleaner(checkUrl),
    close: clients.close,
  }
}
