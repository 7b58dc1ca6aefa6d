import { ApiError } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'

// JSON-RPC 2.0 as the Model Context Protocol uses it (modelcontextprotocol.io/specification, revisions up to 2026-07-28).

export type RpcId = string | number

export interface RpcRequest {
  kind: 'request'
  id: RpcId
  method: string
  params: Record<string, unknown>
}

export type RpcMessage =
  | RpcRequest
  | { kind: 'notification'; method: string; params: Record<string, unknown> }
  /** A response from the client. It is ignored, because the server sends no requests. */
  | { kind: 'response' }

export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** Of the revisions with a handshake; the modern one uses invalidParams. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const

/** An error with a JSON-RPC error code. */
export class RpcError extends ApiError {
  readonly rpcCode: number
  readonly data: object | undefined

  constructor(rpcCode: keyof typeof rpcCodes, message: string, data?: object, code: ErrorCode = 'BAD_REQUEST') {
    super(code, message)
    this.rpcCode = rpcCodes[rpcCode]
    this.data = data
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is RpcId => typeof value === 'string' || Number.isSafeInteger(value)

export const idOf = (body: unknown): RpcId | null => (isObject(body) && isId(body['id']) ? body['id'] : null)

const invalid = (message: string): RpcError => new RpcError('invalidRequest', message)

/** Parses one message. Throws Invalid Request for anything else. */
export const parseMessage = (value: unknown): RpcMessage => {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') {
    throw invalid('The body must be one JSON-RPC message: an object with "jsonrpc": "2.0".')
  }
  const { id, method, params = {} } = value
  if (method === undefined && isId(id) && ('result' in value || 'error' in value)) return { kind: 'response' }
  if (typeof method !== 'string' || method === '') throw invalid('method must be a non-empty string.')
  if (!isObject(params)) throw invalid('params must be an object.')
  if (!('id' in value)) return { kind: 'notification', method, params }
  if (!isId(id)) throw invalid('id must be a string or an integer.')
  return { kind: 'request', id, method, params }
}

export const rpcResult = (id: RpcId, result: object): object => ({ jsonrpc: '2.0', id, result })

const codeOf = ({ code, status }: ApiError, body: unknown): number => {
  if (code === 'BAD_REQUEST') return body === undefined ? rpcCodes.parseError : rpcCodes.invalidRequest
  if (code === 'INTERNAL_ERROR') return rpcCodes.internalError
  // Outside of the ranges that JSON-RPC (-32768 to -32000) and MCP reserve.
  return -status
}

/** The error response to the request with this id; the id is null when the request has no readable id. */
export const rpcErrorResponse = (error: ApiError, id: RpcId | null, body?: unknown): object => {
  const code = error instanceof RpcError ? error.rpcCode : codeOf(error, body)
  const data = error instanceof RpcError && error.data !== undefined ? { data: error.data } : {}
  return { jsonrpc: '2.0', id, error: { code, message: error.message, ...data } }
}
