// An MCP server on loopback (Streamable HTTP with sessions) that rejects clients that violate the protocol.
import { randomUUID } from 'node:crypto'
import type { FakeProvider, Reply, Seen } from './provider.ts'

export interface FakeMcp {
  token: string | undefined
  tools: { name: string; description: string; inputSchema: object }[]
  /** The result of `tools/call`. */
  onCall: (name: string, input: unknown) => { content: object[]; isError?: boolean; structuredContent?: object }
  /** Respond with an event stream, which stays open after the response, instead of JSON. */
  isStreaming: boolean
  /** Tools per page of `tools/list`. */
  pageSize: number
  version: string
  /** Declared by `initialize`, besides tools. */
  capabilities: object
  /** Results of further methods. */
  onRequest: Record<string, (params: Record<string, unknown>) => object>
  /** A request of the server, sent on the stream of a call before its response; and the answers of the client. */
  asks: object | undefined
  /** The method during which it is sent. */
  asksIn: string
  name: string
  /** The message of a JSON-RPC error, as the response to every request after `initialize`. */
  error: string | undefined
  answers: object[]
  /** Rejects requests before everything else. */
  guard: ((seen: Seen) => Reply | undefined) | undefined
  /** Answers the end of a session. */
  onDelete: (() => Reply | Promise<Reply>) | undefined
  calls: { name: string; input: unknown }[]
  openSessions: Set<string>
}

export const addMcp = (provider: FakeProvider, path: string): FakeMcp => {
  const mcp: FakeMcp = {
    token: undefined,
    tools: [],
    onCall: (name) => ({ content: [{ type: 'text', text: `${name} done` }] }),
    isStreaming: false,
    pageSize: 100,
    version: '2025-11-25',
    capabilities: {},
    onRequest: {},
    asks: undefined,
    asksIn: 'tools/call',
    name: 'Fake',
    error: undefined,
    answers: [],
    guard: undefined,
    onDelete: undefined,
    calls: [],
    openSessions: new Set(),
  }
  const initialized = new Set<string>()

  const resultOf = (method: string, params: Record<string, unknown>): object => {
    if (method === 'tools/list') {
      const from = Number(params['cursor'] ?? 0)
      const next = from + mcp.pageSize
      return {
        tools: mcp.tools.slice(from, next),
        ...(next < mcp.tools.length ? { nextCursor: String(next) } : {}),
      }
    }
    if (method === 'tools/call') {
      const name = String(params['name'])
      mcp.calls.push({ name, input: params['arguments'] })
      return mcp.onCall(name, params['arguments'])
    }
    const answer = mcp.onRequest[method]
    if (answer) return answer(params)
    throw new Error(method)
  }

  const violationOf = ({ headers, body }: Seen): string | undefined => {
    const { method } = (body ?? {}) as { method?: string }
    const isInitialize = method === 'initialize'
    const session = String(headers['mcp-session-id'] ?? '')
    if (!isInitialize && !mcp.openSessions.has(session)) return 'no such session'
    if (!isInitialize && headers['mcp-protocol-version'] !== mcp.version) return 'no protocol version'
    if (!isInitialize && method !== 'notifications/initialized' && body !== undefined && !initialized.has(session)) {
      return 'not initialized'
    }
    const accept = headers.accept ?? ''
    if (body !== undefined && !(accept.includes('application/json') && accept.includes('text/event-stream'))) {
      return 'accept'
    }
    return undefined
  }

  let answered: (() => void) | undefined
  provider.on('POST', path, async (seen, response): Promise<Reply> => {
    const guarded = mcp.guard?.(seen)
    if (guarded) return guarded
    if (mcp.token !== undefined && seen.headers.authorization !== `Bearer ${mcp.token}`)
      return { status: 401, body: {} }
    const violation = violationOf(seen)
    if (violation !== undefined) return { status: 400, body: { violation } }
    const {
      id,
      method,
      params = {},
    } = seen.body as {
      id?: number
      method?: string
      params?: Record<string, unknown>
    }
    if (method === undefined) {
      mcp.answers.push(seen.body as object)
      answered?.()
      return { status: 202 }
    }
    if (method === 'notifications/initialized') {
      initialized.add(String(seen.headers['mcp-session-id']))
      return { status: 202 }
    }
    if (method === 'initialize') {
      const session = randomUUID()
      mcp.openSessions.add(session)
      const result = {
        protocolVersion: mcp.version,
        capabilities: { tools: {}, ...mcp.capabilities },
        serverInfo: { name: mcp.name, version: '1' },
      }
      return { body: { jsonrpc: '2.0', id, result }, headers: { 'mcp-session-id': session } }
    }
    if (mcp.error !== undefined) return { body: { jsonrpc: '2.0', id, error: { code: -32_000, message: mcp.error } } }
    const isKnown = method.startsWith('tools/') || mcp.onRequest[method] !== undefined
    if (!isKnown) return { body: { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } } }
    if (mcp.asks && method === mcp.asksIn) {
      const { promise, resolve } = Promise.withResolvers<void>()
      answered = resolve
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // The server numbers its own requests: this one has the ID of the call.
      response.write(`id: 1\ndata: \n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, ...mcp.asks })}\n\n`)
      await promise
      // The result can depend on the answer.
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n\n`)
      return {}
    }
    const message = { jsonrpc: '2.0', id, result: resultOf(method, params) }
    if (!mcp.isStreaming) return { body: message }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      ': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n',
    )
    const text = JSON.stringify(message)
    const half = Math.floor(text.length / 2)
    response.write(`id: 7\ndata: ${text.slice(0, half)}`)
    setTimeout(() => response.write(`${text.slice(half)}\n\n`), 10)
    return {}
  })
  provider.on('DELETE', path, (seen) => {
    mcp.openSessions.delete(String(seen.headers['mcp-session-id']))
    return mcp.onDelete?.() ?? { status: 204 }
  })
  return mcp
}
