// An MCP server of the revision 2026-07-28 on loopback that rejects clients that violate the protocol.
import type { FakeProvider, Reply, Seen } from './provider.ts'

const version = '2026-07-28'
const prefix = 'io.modelcontextprotocol/'

export interface StatelessMcp {
  token: string | undefined
  tools: { name: string; description: string; inputSchema: object }[]
  /** The result of `tools/call` without `resultType`. */
  onCall: (params: Record<string, unknown>) => Record<string, unknown>
  /** The parameters of each call. */
  calls: Record<string, unknown>[]
  /** The methods of all requests. */
  methods: string[]
}

const decoded = (value: unknown): string => {
  const text = String(value)
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(text) ?? []
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString('utf8')
}

const mismatchOf = ({ headers }: Seen, method: string, params: Record<string, unknown>): string | undefined => {
  const meta = (params['_meta'] ?? {}) as Record<string, unknown>
  if (headers['mcp-session-id'] !== undefined) return 'a session'
  if (headers['mcp-protocol-version'] !== version || meta[`${prefix}protocolVersion`] !== version) return 'the version'
  if (headers['mcp-method'] !== method) return 'the method'
  if (method === 'tools/call' && decoded(headers['mcp-name']) !== params['name']) return 'the name'
  if (typeof meta[`${prefix}clientCapabilities`] !== 'object') return 'the capabilities'
  return undefined
}

export const addStatelessMcp = (provider: FakeProvider, path: string): StatelessMcp => {
  const mcp: StatelessMcp = {
    token: undefined,
    tools: [],
    onCall: () => ({ content: [{ type: 'text', text: 'done' }] }),
    calls: [],
    methods: [],
  }
  const results: Record<string, (params: Record<string, unknown>) => Record<string, unknown>> = {
    'server/discover': () => ({
      supportedVersions: [version],
      capabilities: { tools: {} },
      _meta: { [`${prefix}serverInfo`]: { name: 'Stateless', version: '1' } },
    }),
    'tools/list': () => ({ tools: mcp.tools, ttlMs: 0, cacheScope: 'private' }),
    'tools/call': (params) => {
      mcp.calls.push(params)
      return mcp.onCall(params)
    },
  }
  provider.on('POST', path, (seen): Reply => {
    const {
      id,
      method = '',
      params = {},
    } = seen.body as {
      id?: number
      method?: string
      params?: Record<string, unknown>
    }
    mcp.methods.push(method)
    if (mcp.token !== undefined && seen.headers.authorization !== `Bearer ${mcp.token}`)
      return { status: 401, body: {} }
    const error = (status: number, code: number, message: string, data?: object): Reply => ({
      status,
      body: { jsonrpc: '2.0', id, error: { code, message, data } },
    })
    const mismatch = mismatchOf(seen, method, params)
    if (mismatch === 'the version') return error(400, -32_022, 'Unsupported version', { supported: [version] })
    if (mismatch !== undefined) return error(400, -32_020, `Header mismatch: ${mismatch}`)
    const result = results[method]
    if (!result) return error(404, -32_601, 'Method not found')
    return { body: { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result(params) } } }
  })
  return mcp
}
