import { setTimeout as delay } from 'node:timers/promises'
import { badRequest } from '../../platform/http/errors.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { parseChallenge } from './oauth/challenge.ts'
import type { Challenge } from './oauth/challenge.ts'
import { answerRequests, name, readResponse, unavailable } from './responses.ts'
import type { AnswerRequest, ForeignRequest, Message } from './responses.ts'
import { addTools } from './tool-list.ts'
import type { McpTool } from './tool-list.ts'

interface McpTarget {
  url: URL
  token: string | undefined
  /** Redacts the secrets of the connection, before anything is cut: half a token is a secret, too. */
  scrub: (text: string) => string
  trusted: boolean
  /** The org whose DNS look-ups are counted. */
  orgId: string
  /** Answers a question of the server to the user. Without it, every question is cancelled. */
  elicit?: ((params: unknown) => Elicited) | undefined
}

/** The result of `elicitation/create`. */
export type Elicited = { action: 'accept'; content: object } | { action: 'decline' | 'cancel' }

/** What a server declares besides tools. */
export interface ServerFeatures {
  resources?: true
  prompts?: true
}

export interface ItemList {
  items: Record<string, unknown>[]
  /** False when the server has more. */
  isComplete: boolean
}

/** A session with one server (MCP, Streamable HTTP transport). */
export interface McpSession {
  serverName: string
  features: ServerFeatures
  listTools(): Promise<McpTool[]>
  /** Up to `max` objects of a paged list, unchecked. */
  listItems(method: string, key: string, max: number): Promise<ItemList>
  /** The `result` of the response, unchecked. */
  request(method: string, params: object): Promise<Record<string, unknown>>
  /** The `result` of the response, unchecked. */
  callTool(name: string, input: unknown): Promise<unknown>
  close(): Promise<void>
}

/** Supported protocol versions, newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26']
const timeoutMs = 30_000
/** How long a call waits for the stream of a server's own requests. */
const openingMs = 2_000
const maxPages = 20

/**
 * We declare elicitation only, so a server may ask for nothing else but a `ping`. Without an answer it would wait forever.
 */
const answerTo = ({ id, method, params }: ForeignRequest, elicit: NonNullable<McpTarget['elicit']>): object => {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  if (method === 'elicitation/create') return { jsonrpc: '2.0', id, result: elicit(params) }
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'This client does not support the method.' } }
}

const resultOf = ({ result, error }: Message, scrub: McpTarget['scrub']): Record<string, unknown> => {
  if (error) {
    const message = typeof error.message === 'string' ? scrub(error.message).slice(0, 500) : 'no message'
    throw new ProviderError('rejected', `${name} returned an error: ${message}`)
  }
  if (typeof result !== 'object' || result === null) throw unavailable('sent a response without a result')
  return result as Record<string, unknown>
}

const featuresOf = (initialized: Record<string, unknown>): ServerFeatures => {
  const declared = (initialized['capabilities'] ?? {}) as Record<string, unknown>
  const isDeclared = (feature: string): boolean => typeof declared[feature] === 'object' && declared[feature] !== null
  return {
    ...(isDeclared('resources') ? { resources: true } : {}),
    ...(isDeclared('prompts') ? { prompts: true } : {}),
  }
}

type RequestPage = (params: object) => Promise<Record<string, unknown>>

const collectTools = async (requestPage: RequestPage): Promise<McpTool[]> => {
  const tools: McpTool[] = []
  let cursor: unknown
  for (let page = 0; page < maxPages; page++) {
    const result = await requestPage(cursor === undefined ? {} : { cursor })
    if (Array.isArray(result['tools'])) addTools(tools, result['tools'])
    cursor = result['nextCursor']
    if (cursor === undefined || cursor === null) return tools
  }
  throw badRequest(`The MCP server lists its tools in more than ${maxPages} pages.`)
}

const collectItems = async (requestPage: RequestPage, key: string, max: number): Promise<ItemList> => {
  const items: Record<string, unknown>[] = []
  let cursor: unknown
  for (let page = 0; page < maxPages && items.length <= max; page++) {
    const result = await requestPage(cursor === undefined ? {} : { cursor })
    const found: unknown[] = Array.isArray(result[key]) ? result[key] : []
    for (const one of found) if (typeof one === 'object' && one !== null) items.push(one as Record<string, unknown>)
    cursor = result['nextCursor'] ?? undefined
    if (cursor === undefined) break
  }
  return { items: items.slice(0, max), isComplete: cursor === undefined && items.length <= max }
}

/** A response that asks for authorization: 401, or 403 for a token without a scope. */
export class McpChallenge extends ProviderError {
  /** 401 or 403. */
  readonly responseStatus: number
  readonly challenge: Challenge

  constructor(status: number, challenge: Challenge) {
    super(status === 401 ? 'invalid_credentials' : 'rejected', `${name} responded with status ${status}.`)
    this.name = 'McpChallenge'
    this.responseStatus = status
    this.challenge = challenge
  }
}

const failureOf = ({ status, headers }: Response): ProviderError => {
  if (status === 401 || status === 403) return new McpChallenge(status, parseChallenge(headers.get('www-authenticate')))
  const isUnavailable = status === 429 || status >= 500
  return new ProviderError(isUnavailable ? 'unavailable' : 'rejected', `${name} responded with status ${status}.`)
}

interface Send {
  (method: 'POST' | 'DELETE' | 'GET', body: object | undefined, more?: { lastEventId: string }): Promise<Response>
}

/**
 * Opens the stream of a server's own requests, which it sends only while the stream is open. Servers without one respond
 * with 405.
 */
const openRequestStream = async (send: Send, answer: AnswerRequest): Promise<void> => {
  const response = await send('GET', undefined).catch(() => undefined)
  if (!response?.body) return
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) answerRequests(response.body, answer).catch(() => undefined)
  else await response.body.cancel()
}

/** What a session has agreed with its server. */
interface Agreed {
  sessionId: string | undefined
  version: string | undefined
}

interface SendOptions {
  agreed: Agreed
  signal: AbortSignal | undefined
  /** Aborted when the session closes. */
  closed: AbortSignal
}

/** Sends requests with the headers of the session. Throws a ProviderError for every other status than 2xx. */
const createSend = (outbound: Outbound, target: McpTarget, { agreed, signal, closed }: SendOptions): Send => {
  const requestSignal = (): AbortSignal => {
    const timeout = AbortSignal.timeout(timeoutMs)
    return signal ? AbortSignal.any([signal, timeout]) : timeout
  }
  return async (method, body, { lastEventId } = { lastEventId: '' }) => {
    const { sessionId, version } = agreed
    try {
      const response = await outbound.fetch(target.url, {
        method,
        headers: {
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          'user-agent': 'Atrium',
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
          ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
          ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
          ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: method === 'GET' ? AbortSignal.any([requestSignal(), closed]) : requestSignal(),
        trusted: target.trusted,
        orgId: target.orgId,
      })
      if (response.ok) return response
      await response.body?.cancel()
      throw failureOf(response)
    } catch (error) {
      if (error instanceof ProviderError || signal?.aborted) throw error
      const reason = error instanceof OutboundError ? error.message : `no response within ${timeoutMs / 1_000} s`
      throw unavailable(`could not be reached: ${reason.replace(/\.$/, '')}`, error)
    }
  }
}

/**
 * Opens a session: `initialize`, then `notifications/initialized`. Throws a ProviderError: `invalid_credentials` when the
 * server does not accept the token, `rejected` when it supports none of our protocol versions.
 */
export const openSession = async (outbound: Outbound, target: McpTarget, signal?: AbortSignal): Promise<McpSession> => {
  const agreed: Agreed = { sessionId: undefined, version: undefined }
  const closing = new AbortController()
  const send = createSend(outbound, target, { agreed, signal, closed: closing.signal })
  let lastId = 0

  const elicit = (params: unknown): Elicited => {
    const clean: unknown = JSON.parse(target.scrub(JSON.stringify(params ?? null)))
    return target.elicit?.(clean) ?? { action: 'cancel' }
  }
  const answer = async (message: ForeignRequest): Promise<void> =>
    (await send('POST', answerTo(message, elicit))).body?.cancel()
  const listen = async (): Promise<void> => {
    if (agreed.sessionId === undefined || target.elicit === undefined) return
    await Promise.race([openRequestStream(send, answer), delay(openingMs, undefined, { ref: false })])
  }
  const request = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const id = ++lastId
    const deadlineMs = performance.now() + timeoutMs
    const response = await send('POST', { jsonrpc: '2.0', id, method, params })
    agreed.sessionId ??= response.headers.get('mcp-session-id') ?? undefined
    try {
      const resume = (lastEventId: string) => send('GET', undefined, { lastEventId })
      return resultOf(await readResponse(response, { id, answer, resume, deadlineMs, signal }), target.scrub)
    } catch (error) {
      if (error instanceof ProviderError || signal?.aborted) throw error
      throw unavailable('did not complete its response', error)
    }
  }

  const scrubbed: McpSession['request'] = async (method, params) =>
    JSON.parse(target.scrub(JSON.stringify(await request(method, params)))) as Record<string, unknown>

  const initialized = await request('initialize', {
    protocolVersion: versions[0],
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: 'Atrium', version: '1' },
  })
  agreed.version = versions.find((known) => known === initialized['protocolVersion'])
  if (agreed.version === undefined) {
    throw new ProviderError('rejected', `${name} supports none of the MCP versions ${versions.join(', ')}.`)
  }
  await (await send('POST', { jsonrpc: '2.0', method: 'notifications/initialized' })).body?.cancel()
  const { name: serverName } = (initialized['serverInfo'] ?? {}) as { name?: unknown }

  return {
    serverName: typeof serverName === 'string' ? serverName.slice(0, 200) : target.url.host,
    features: featuresOf(initialized),
    listTools: () => collectTools((params) => request('tools/list', params)),
    listItems: (method, key, max) => collectItems((params) => scrubbed(method, params), key, max),
    request: scrubbed,
    callTool: async (toolName, input) => {
      await listen()
      return scrubbed('tools/call', { name: toolName, arguments: input ?? {} })
    },
    close: async () => {
      closing.abort()
      if (agreed.sessionId === undefined) return
      // Servers can reject this with 405. The session expires at the server then.
      await send('DELETE', undefined).then(
        (response) => response.body?.cancel(),
        () => undefined,
      )
    },
  }
}
