import type { IncomingHttpHeaders } from 'node:http'
import { RpcError } from './rpc.ts'
import type { RpcMessage } from './rpc.ts'

/** The stateless revision: there is no `initialize`, each request carries its own version and capabilities. */
export const modernVersion = '2026-07-28'
/** The revisions with an `initialize` handshake. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26']
/** The version of a request without a version header (MCP 2025-06-18, transports). */
export const oldestVersion = '2025-03-26'
export const supportedVersions = [modernVersion, ...legacyVersions]

/** The two kinds of revisions, as the official SDKs name them. */
export type Era = 'modern' | 'legacy'

const key = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
}

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

const unsupported = (requested: string): RpcError =>
  new RpcError('unsupportedVersion', 'The protocol version is not supported.', {
    supported: supportedVersions,
    requested: requested.slice(0, 100),
  })

const mismatch = (header: string, field: string): RpcError =>
  new RpcError('headerMismatch', `Header mismatch: ${header} must equal ${field} in the body.`)

const decoded = (value: string | undefined): string | undefined => {
  const encoded = value === undefined ? undefined : /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}

/** The field of the parameters that the header Mcp-Name repeats. */
const namedBy: Partial<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** The headers must repeat these values of the body, because proxies route by the headers. */
const checkHeaders = (
  headers: IncomingHttpHeaders,
  { method, params }: Extract<RpcMessage, { method: string }>,
): void => {
  if (one(headers['mcp-method']) !== method) throw mismatch('Mcp-Method', 'method')
  const named = namedBy[method]
  if (named !== undefined && decoded(one(headers['mcp-name'])) !== params[named]) {
    throw mismatch('Mcp-Name', `params.${named}`)
  }
}

/** The kind of revision that a message follows. Throws the protocol's errors when headers and body disagree. */
export const eraOf = (headers: IncomingHttpHeaders, message: RpcMessage): Era => {
  const header = one(headers['mcp-protocol-version'])
  if (header !== undefined && !supportedVersions.includes(header)) throw unsupported(header)
  if (message.kind === 'response') return 'legacy'
  const meta = (message.params['_meta'] ?? {}) as Record<string, unknown>
  const named = meta[key.version]
  if (named === undefined) {
    if (header !== modernVersion) return 'legacy'
    if (message.kind === 'notification') return 'modern'
    throw new RpcError('invalidParams', `params._meta must carry ${key.version}.`)
  }
  if (typeof named !== 'string') throw new RpcError('invalidParams', `${key.version} must be a string.`)
  if (header !== named) throw mismatch('MCP-Protocol-Version', `params._meta["${key.version}"]`)
  if (named !== modernVersion) throw unsupported(named)
  if (typeof meta[key.capabilities] !== 'object' || meta[key.capabilities] === null) {
    throw new RpcError('invalidParams', `params._meta must carry ${key.capabilities}, an object.`)
  }
  if (message.kind === 'request') checkHeaders(headers, message)
  return 'modern'
}
