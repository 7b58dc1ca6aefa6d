import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { buildConnector, Dispatcher, RequestInit as UndiciRequestInit } from 'undici'
import { startDeadline, until } from './deadline.ts'
import { badRequest } from '../http/errors.ts'
import { limitLookups, lookUpFor } from './lookup-limits.ts'
import { createNameResolution } from './name-resolution.ts'
import type { Resolve, Resolved } from './name-resolution.ts'
import { createRange, isPublicAddress } from './public-addresses.ts'
import type { Cidr } from './public-addresses.ts'

/** Why nothing came back. */
export type OutboundFailure =
  | 'invalid_url'
  | 'blocked'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'timeout'
  | 'network_error'

/** The message may be shown to whoever named the URL: it tells nothing about the network that Atrium is in. */
export class OutboundError extends Error {
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutboundError'
    this.reason = reason
  }
}

/** For whom a request is made. */
export interface OnBehalf {
  /**
   * The org whose user named the URL, or whose connection it is. Its name look-ups under way are counted: beyond the
   * limit its own requests wait, and those of other orgs do not. Requests without an org share one count.
   */
  orgId?: string | undefined
}

export interface OutboundRequest extends OnBehalf {
  /** GET by default. */
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** For all of it: name, connection, answer and its body. */
  timeoutMs: number
  /** The answer's body is cut here, and the connection closed. */
  maxBytes: number
  signal?: AbortSignal
  /** Goes anywhere. Only for a base URL that the operator configured, never for one that a user named. */
  trusted?: boolean
}

export interface OutboundResponse {
  status: number
  /** In lower case; those that came several times joined by commas. */
  headers: Record<string, string>
  /** As it came: what was compressed still is. */
  body: Buffer
  truncated: boolean
  durationMs: number
}

/** The one way out for every URL that a user names. */
export interface Outbound {
  /** Follows no redirect. Throws an OutboundError; an answer of any status is an answer. */
  request(url: string | URL, options: OutboundRequest): Promise<OutboundResponse>
  /**
   * For libraries that want a `fetch` and answers that stream: guarded the same, no redirects (they are answers), no
   * compression, and no deadline but the caller's `signal`. `trusted` as for a request.
   */
  fetch(url: string | URL, init?: RequestInit & OnBehalf & { trusted?: boolean }): Promise<Response>
  /**
   * What a URL is checked for when somebody stores it: BAD_REQUEST unless it is one that requests may go to. A name
   * that does not resolve right now passes; every connection is checked again.
   */
  checkUrl(url: string, of?: OnBehalf): Promise<URL>
  close(): Promise<void>
}

export type { Resolved } from './name-resolution.ts'

export interface OutboundOptions {
  /** Ranges that are open though they are not public, with every port. */
  allowCidrs?: readonly Cidr[]
  /** Name resolution; the hosts file and the name servers by default. */
  resolve?: Resolve
}

const connectTimeoutMs = 10_000
const checkResolveMs = 2_000

const notPublic = 'The URL leads to an address that is not on the public Internet.'
const badPort = 'The URL names a port that requests may not go to: use 80, 443 or one from 1024 up.'

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

// No resolver of the Internet knows these. They are refused by name where no private range is open, because they may
// fail to resolve where the URL is stored and lead inside where it is used.
const isPrivateName = (hostname: string): boolean => {
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/.test(name)
}

/** Which addresses a request may go to. */
const createRule = ({ allowCidrs = [], resolve: resolveName = createNameResolution() }: OutboundOptions) => {
  const resolve = limitLookups(resolveName)
  const isAllowed = createRange(allowCidrs)
  // Other services of a public host, such as mail, speak on low ports; on an opened range that is the operator's word.
  const isUsual = (port: number): boolean => port === 80 || port === 443 || port >= 1024
  const refusalOf = (address: string, port: number): string | undefined => {
    if (isAllowed(address)) return undefined
    if (!isPublicAddress(address)) return notPublic
    return isUsual(port) ? undefined : badPort
  }
  const checkAll = (addresses: Resolved[], port: number): void => {
    for (const { address } of addresses) {
      const refusal = refusalOf(address, port)
      if (refusal !== undefined) throw blocked(refusal)
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
    // One bad answer among good ones is refused as well: which one a connection takes is left to chance.
    checkAll(addresses, port)
    return addresses
  }
  return { refusalOf, resolveChecked, isUsual }
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
 * Connects to the very addresses that were checked. A lookup alone would not do: it is never asked about a literal
 * address. The peer's address is looked at as well, before the first byte of the request.
 */
const createGuardedConnector = (rule: Rule, build: typeof buildConnector): buildConnector.connector => {
  const options = { allowH2: false, timeout: connectTimeoutMs }
  const usual = build({ ...options, lookup: lookupFor(rule, 443) })
  return (target, callback) => {
    const hostname = withoutBrackets(target.hostname)
    const port = portOf(target)
    if (isIP(hostname) !== 0) {
      const refusal = rule.refusalOf(hostname, port)
      if (refusal !== undefined) {
        callback(blocked(refusal), null)
        return
      }
    }
    // The odd ports get a connector each, which knows what it looks up for.
    const connect = rule.isUsual(port) ? usual : build({ ...options, lookup: lookupFor(rule, port) })
    connect({ ...target, hostname }, (...[error, socket]) => {
      if (error) {
        callback(error, null)
        return
      }
      const refusal = rule.refusalOf(socket.remoteAddress ?? '', port)
      if (refusal === undefined) callback(null, socket)
      else {
        socket.destroy()
        callback(blocked(refusal), null)
      }
    })
  }
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''

const isTlsCode = (code: string): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/.test(code)

const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const unreachableCodes = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** What the error of a library comes to. Several addresses that all failed tell by the first of them. */
const toFailure = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  if (error instanceof Error && error.cause instanceof OutboundError) return error.cause
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = codeOf(inner)
  const made = (reason: OutboundFailure, message: string): OutboundError =>
    new OutboundError(reason, message, { cause: error })
  const isTimeout = inner instanceof Error && (inner.name === 'TimeoutError' || code === 'ETIMEDOUT')
  if (isTimeout || code === 'UND_ERR_CONNECT_TIMEOUT') return made('timeout', 'There was no complete answer in time.')
  if (code === 'ECONNREFUSED') return made('connection_refused', 'The connection was refused.')
  if (resetCodes.has(code)) return made('connection_reset', 'The connection was closed before the answer was complete.')
  if (isTlsCode(code)) return made('tls_error', `TLS could not be agreed on (${code}).`)
  if (unreachableCodes.has(code)) return made('network_error', 'The address could not be reached.')
  return made('network_error', 'The request failed, or its answer was not HTTP.')
}

const readUpTo = (
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<{ bytes: Buffer; truncated: boolean }> => {
  const { promise, resolve, reject } = Promise.withResolvers<{ bytes: Buffer; truncated: boolean }>()
  const chunks: Buffer[] = []
  let size = 0
  const finish = (): void => resolve({ bytes: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes })
  body.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size <= maxBytes) return
    finish()
    // Makes the stream fail, which nobody is waiting for any more.
    body.destroy()
  })
  body.on('end', finish)
  body.on('error', reject)
  return promise
}

const flatHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter((entry): entry is [string, string | string[]] => entry[1] !== undefined)
      .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]),
  )

const isEncoded = (encoding: string | null): boolean => encoding !== null && !/^(identity)?$/i.test(encoding.trim())

const openClients = async (rule: Rule) => {
  const { Agent, buildConnector, fetch, request } = await import('undici')
  // The deadline is the request's own, over all of it.
  const options = { headersTimeout: 0, bodyTimeout: 0 }
  return {
    fetch,
    request,
    guarded: new Agent({ ...options, connect: createGuardedConnector(rule, buildConnector) }),
    open: new Agent({ ...options, connect: { allowH2: false, timeout: connectTimeoutMs } }),
  }
}

/** The clients, opened at the first request: the library takes 4 MB. */
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
        const refusal = rule.refusalOf(hostname, portOf(url))
        if (refusal !== undefined) throw blocked(refusal)
        return url
      }
      // A resolver that is slow or away must not hold up whoever stores a URL.
      const looked = lookUpFor(orgId, () => rule.resolveChecked(hostname, portOf(url)))
      const resolving = looked.catch((error: unknown) => {
        if (!(error instanceof OutboundError && error.reason === 'dns_error')) throw error
        if (!rule.isUsual(portOf(url))) throw blocked(badPort)
      })
      await Promise.race([resolving, delay(checkResolveMs, undefined, { ref: false })])
      return url
    } catch (error) {
      throw badRequest(toFailure(error).message, { cause: error })
    }
  }

/** Nothing connects before the first request. */
export const createOutbound = (options: OutboundOptions = {}): Outbound => {
  const rule = createRule(options)
  const clients = createClients(rule)

  const request: Outbound['request'] = async (target, { trusted = false, orgId, ...given }) => {
    const url = parseUrl(target)
    const began = performance.now()
    const { signal, end } = startDeadline(given.timeoutMs, given.signal)
    const exchange = async () => {
      // Not `fetch`: it undoes compression, and a small answer could become gigabytes.
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
      // The caller's own abort is no failure of the other side.
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
    // The two libraries describe the same objects by types of their own.
    const given = { ...init, headers: [...headers] } as unknown as UndiciRequestInit
    const { fetch: send, open, guarded } = await clients.open()
    const dispatcher = trusted ? open : guarded
    const sent = lookUpFor(orgId, () => send(url, { ...given, redirect: 'manual', dispatcher }))
    const answer = await sent.catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      throw toFailure(error instanceof Error ? (error.cause ?? error) : error)
    })
    if (isEncoded(answer.headers.get('content-encoding'))) {
      await answer.body?.cancel()
      throw new OutboundError('network_error', 'The answer is compressed, which it was asked not to be.')
    }
    return answer
  }

  return {
    request,
    fetch: guardedFetch,
    checkUrl: createUrlCheck(rule),
    close: clients.close,
  }
}
