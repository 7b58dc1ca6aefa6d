import type { IncomingHttpHeaders } from 'node:http'
import { RpcError } from './rpc.ts'
import type { RpcMessage } from './rpc.ts'

/** Without a handshake: each request says all there is to know. */
export const currentVersion = '2026-07-28'
/** With one. The last is what a request means that names none. */
export const handshakeVersions = ['2025-11-25', '2025-06-18', '2025-03-26']
export const oldestVersion = '2025-03-26'
export const supportedVersions = [currentVersion, ...handshakeVersions]

export type Era = 'current' | 'handshake'

const key = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
}

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

const unsupported = (requested: string): RpcError =>
  new RpcError('unsupportedVersion', 'This version of the protocol is not supported.', {
    supported: supportedVersions,
    requested: requested.slice(0, 100),
  })

const mismatch = (header: string, field: string): RpcError =>
  new RpcError('headerMismatch', `Header mismatch: ${header} is missing or is not what ${field} in the body says.`)

const decoded = (value: string | undefined): string | undefined => {
  const encoded = value === undefined ? undefined : /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}

/** What the headers must repeat of the body, so that what stands in between is not told something else. */
const checkHeaders = (
  headers: IncomingHttpHeaders,
  { method, params }: Extract<RpcMessage, { method: string }>,
): void => {
  if (one(headers['mcp-method']) !== method) throw mismatch('Mcp-Method', 'method')
  if (method === 'tools/call' && decoded(one(headers['mcp-name'])) !== params['name']) {
    throw mismatch('Mcp-Name', 'params.name')
  }
}

/** Which revision a message follows. Rejects with the protocol's own errors where it contradicts itself. */
export const eraOf = (headers: IncomingHttpHeaders, message: RpcMessage): Era => {
  const header = one(headers['mcp-protocol-version'])
  if (header !== undefined && !supportedVersions.includes(header)) throw unsupported(header)
  if (message.kind === 'response') return 'handshake'
  const meta = (message.params['_meta'] ?? {}) as Record<string, unknown>
  const named = meta[key.version]
  if (named === undefined) {
    if (header !== currentVersion) return 'handshake'
    if (message.kind === 'notification') return 'current'
    throw new RpcError('invalidParams', `params._meta must carry ${key.version}.`)
  }
  if (typeof named !== 'string') throw new RpcError('invalidParams', `${key.version} must be text.`)
  if (header !== named) throw mismatch('MCP-Protocol-Version', `params._meta["${key.version}"]`)
  if (named !== currentVersion) throw unsupported(named)
  if (typeof meta[key.capabilities] !== 'object' || meta[key.capabilities] === null) {
    throw new RpcError('invalidParams', `params._meta must carry ${key.capabilities}, an object.`)
  }
  if (message.kind === 'request') checkHeaders(headers, message)
  return 'current'
}
