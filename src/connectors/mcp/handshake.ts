import { setTimeout as delay } from 'node:timers/promises'
import { ProviderError } from '../connections/provider-error.ts'
import { answerRequests, name, readResponse, unavailable } from './responses.ts'
import type { AnswerRequest, ForeignRequest } from './responses.ts'
import { askPerson, collectItems, collectTools, featuresOf, serverNameOf } from './session.ts'
import type { McpSession, McpTarget } from './session.ts'
import { failureOf, resultOf, timeoutMs } from './transport.ts'
import type { Transport } from './transport.ts'

/** The revisions with a handshake, newest first. */
export const handshakeVersions = ['2025-11-25', '2025-06-18', '2025-03-26']

/** How long a call waits for the stream of a server's own requests. */
const openingMs = 2_000
/** How long a call whose result has arrived waits for the end of its session. */
const closingMs = 2_000

/**
 * We declare elicitation only, so a server may ask for nothing else but a `ping`. Without an answer it would wait forever.
 */
const answerTo = ({ id, method, params }: ForeignRequest, target: McpTarget): object => {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  if (method === 'elicitation/create') return { jsonrpc: '2.0', id, result: askPerson(target, params) }
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'This client does not support the method.' } }
}

interface Send {
  (method: 'POST' | 'DELETE' | 'GET', body?: object, more?: { lastEventId: string }): Promise<Response>
}

/**
 * Opens the stream of a server's own requests, which it sends only while the stream is open. Servers without one respond
 * with 405.
 */
const openRequestStream = async (send: Send, answer: AnswerRequest): Promise<void> => {
  const response = await send('GET').catch(() => undefined)
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

/** Sends requests with the headers of the session. Throws a ProviderError for every other status than 2xx. */
const createSend =
  (transport: Transport, agreed: Agreed, closed: AbortSignal): Send =>
  async (method, body, { lastEventId } = { lastEventId: '' }) => {
    const { sessionId, version } = agreed
    const response = await transport({
      method,
      body,
      headers: {
        ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
        ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
      },
      ...(method === 'GET' ? { signal: closed } : {}),
      ...(method === 'DELETE' ? { signal: AbortSignal.timeout(closingMs) } : {}),
    })
    if (response.ok) return response
    await response.body?.cancel()
    throw failureOf(response)
  }

/**
 * Opens a session of a revision with a handshake: `initialize`, then `notifications/initialized`. Throws a ProviderError:
 * `invalid_credentials` when the server does not accept the token, `rejected` when it supports none of these revisions.
 */
export const openHandshakeSession = async (
  transport: Transport,
  target: McpTarget,
  signal: AbortSignal | undefined,
): Promise<McpSession> => {
  const agreed: Agreed = { sessionId: undefined, version: undefined }
  const closing = new AbortController()
  const send = createSend(transport, agreed, closing.signal)
  let lastId = 0
  /** Only a call of a tool may ask the person: before it, the tools of the server are not known to be the accepted ones. */
  let isCalling = false

  const answer = async (message: ForeignRequest): Promise<void> =>
    (await send('POST', answerTo(message, isCalling ? target : { ...target, elicit: undefined }))).body?.cancel()
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
      if (signal?.aborted) throw error
      // The server has accepted the request. With another token, the caller would send it again and repeat its effect.
      if (error instanceof ProviderError && error.failure !== 'invalid_credentials') throw error
      throw unavailable('did not complete its response', error)
    }
  }

  const scrubbed: McpSession['request'] = async (method, params) =>
    JSON.parse(target.scrub(JSON.stringify(await request(method, params)))) as Record<string, unknown>

  const initialized = await request('initialize', {
    protocolVersion: handshakeVersions[0],
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: 'Atrium', version: '1' },
  })
  agreed.version = handshakeVersions.find((known) => known === initialized['protocolVersion'])
  if (agreed.version === undefined) {
    throw new ProviderError('rejected', `${name} supports none of the MCP versions ${handshakeVersions.join(', ')}.`)
  }
  await (await send('POST', { jsonrpc: '2.0', method: 'notifications/initialized' })).body?.cancel()

  return {
    serverName: serverNameOf(initialized['serverInfo'], target),
    features: featuresOf(initialized),
    listTools: () => collectTools((params) => request('tools/list', params)),
    listItems: (method, key, max) => collectItems((params) => scrubbed(method, params), key, max),
    request: scrubbed,
    callTool: async (toolName, input) => {
      isCalling = true
      await listen()
      return scrubbed('tools/call', { name: toolName, arguments: input ?? {} })
    },
    close: async () => {
      closing.abort()
      if (agreed.sessionId === undefined) return
      // Servers can reject this with 405. The session expires at the server then.
      await send('DELETE').then(
        (response) => response.body?.cancel(),
        () => undefined,
      )
    },
  }
}
