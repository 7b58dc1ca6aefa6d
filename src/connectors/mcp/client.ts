import { setImmediate as nextTurn } from 'node:timers/promises'
import { badRequest } from '../../platform/http/errors.ts'
import { createEventParser, EventStreamError } from '../../platform/http/event-stream.ts'
import { JsonTooDeep, maxJsonDepth, parseForeignJson } from '../../platform/http/json-depth.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { addTools } from './tools.ts'
import type { McpTool } from './tools.ts'
import { ProviderError } from '../connections/provider.ts'

export interface McpTarget {
  url: URL
  token: string | undefined
  trusted: boolean
  /** Whose name look-ups are counted. */
  orgId: string
}

/** A session with one server, for as long as one piece of work takes. */
export interface McpSession {
  serverName: string
  listTools(): Promise<McpTool[]>
  /** The result of the call as the server gave it. */
  callTool(name: string, input: unknown): Promise<unknown>
  close(): Promise<void>
}

/** The revisions of the protocol whose streamable HTTP this speaks, newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26']
const timeoutMs = 30_000
const maxAnswerBytes = 1_048_576
/** 1 MB in chunks of 64 bytes. Each chunk costs some microseconds, whatever is in it. */
const maxChunks = 16_384
const chunksAtOnce = 64
const maxEvents = 1_000
const maxPages = 20

interface Message {
  id?: unknown
  result?: unknown
  error?: { code?: unknown; message?: unknown }
}

const name = 'The MCP server'
const unavailable = (what: string, cause?: unknown): ProviderError =>
  new ProviderError('unavailable', `${name} ${what}.`, cause)

/**
 * The chunks of an answer, within its limits. Chunks that are there already come without a turn of the event loop, so
 * after every few of them the others who wait get theirs.
 */
const chunksOf = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  let chunks = 0
  for await (const chunk of body) {
    size += chunk.length
    chunks += 1
    if (size > maxAnswerBytes) throw unavailable('answered with more than 1 MB')
    if (chunks > maxChunks) throw unavailable(`answered in more than ${maxChunks} pieces`)
    if (chunks % chunksAtOnce === 0) await nextTurn()
    yield chunk
  }
}

const eventsOf = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const parser = createEventParser({ maxEventBytes: maxAnswerBytes, maxEvents })
  try {
    for await (const chunk of chunksOf(body)) yield* parser.push(chunk)
  } catch (error) {
    throw error instanceof EventStreamError ? unavailable(error.message, error) : error
  }
}

const parse = (text: string): Message[] => {
  try {
    const value = parseForeignJson(text) as Message | Message[]
    return [value].flat()
  } catch (error) {
    if (error instanceof JsonTooDeep) throw unavailable(`answered with JSON of more than ${maxJsonDepth} levels`, error)
    throw unavailable('answered with something that is not JSON', error)
  }
}

const answerTo = (text: string, id: number): Message | undefined => parse(text).find((message) => message?.id === id)

const answerIn = async (response: Response, id: number): Promise<Message> => {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!response.body) throw unavailable('gave no answer')
  if (isStream) {
    for await (const event of eventsOf(response.body)) {
      const found = answerTo(event, id)
      // Leaving the loop closes the stream, which some servers keep open.
      if (found) return found
    }
    throw unavailable('ended its stream without an answer')
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(response.body)) chunks.push(chunk)
  const found = answerTo(Buffer.concat(chunks).toString('utf8'), id)
  if (!found) throw unavailable('answered something else')
  return found
}

const resultOf = ({ result, error }: Message): Record<string, unknown> => {
  if (error) {
    const message = typeof error.message === 'string' ? error.message.slice(0, 500) : 'it did not say why'
    throw new ProviderError('refused', `${name} refused: ${message}`)
  }
  if (typeof result !== 'object' || result === null) throw unavailable('answered without a result')
  return result as Record<string, unknown>
}

/**
 * Begins a session (MCP, streamable HTTP): initialize, then the notification that it is done. Throws a ProviderError:
 * `rejected` when the server does not take the token, `refused` when it speaks no version that is known here.
 */
export const openMcp = async (outbound: Outbound, target: McpTarget, signal?: AbortSignal): Promise<McpSession> => {
  const either = (): AbortSignal => {
    const timeout = AbortSignal.timeout(timeoutMs)
    return signal ? AbortSignal.any([signal, timeout]) : timeout
  }
  let sessionId: string | undefined
  let version: string | undefined
  let lastId = 0

  const send = async (method: 'POST' | 'DELETE', body: object | undefined): Promise<Response> => {
    try {
      const response = await outbound.fetch(target.url, {
        method,
        headers: {
          accept: 'application/json, text/event-stream',
          'user-agent': 'Atrium',
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
          ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
          ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: either(),
        trusted: target.trusted,
        orgId: target.orgId,
      })
      if (response.ok) return response
      await response.body?.cancel()
      const { status } = response
      const failure = status === 401 ? 'rejected' : status === 429 || status >= 500 ? 'unavailable' : 'refused'
      throw new ProviderError(failure, `${name} answered ${status}.`)
    } catch (error) {
      if (error instanceof ProviderError || signal?.aborted) throw error
      const said = error instanceof OutboundError ? error.message : 'it did not answer in time'
      throw unavailable(`could not be reached: ${said.replace(/\.$/, '')}`, error)
    }
  }
  const request = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const id = ++lastId
    const response = await send('POST', { jsonrpc: '2.0', id, method, params })
    sessionId ??= response.headers.get('mcp-session-id') ?? undefined
    return resultOf(await answerIn(response, id))
  }

  const hello = await request('initialize', {
    protocolVersion: versions[0],
    capabilities: {},
    clientInfo: { name: 'Atrium', version: '1' },
  })
  const spoken = versions.find((known) => known === hello['protocolVersion'])
  if (spoken === undefined) throw new ProviderError('refused', `${name} speaks no version of MCP that is known here.`)
  version = spoken
  await (await send('POST', { jsonrpc: '2.0', method: 'notifications/initialized' })).body?.cancel()
  const { name: serverName } = (hello['serverInfo'] ?? {}) as { name?: unknown }

  return {
    serverName: typeof serverName === 'string' ? serverName.slice(0, 200) : target.url.host,
    listTools: async () => {
      const tools: McpTool[] = []
      let cursor: unknown
      for (let page = 0; page < maxPages; page++) {
        const result = await request('tools/list', cursor === undefined ? {} : { cursor })
        if (Array.isArray(result['tools'])) addTools(tools, result['tools'])
        cursor = result['nextCursor']
        if (cursor === undefined || cursor === null) return tools
      }
      throw badRequest(`The MCP server lists its tools on more than ${maxPages} pages.`)
    },
    callTool: (toolName, input) => request('tools/call', { name: toolName, arguments: input ?? {} }),
    close: async () => {
      if (sessionId === undefined) return
      // Servers may refuse to end a session; it ends by itself then.
      await send('DELETE', undefined).then(
        (response) => response.body?.cancel(),
        () => undefined,
      )
    },
  }
}
