import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { idOf, rpcErrorResponse } from '../mcp/rpc.ts'

export const a2aPrefix = '/a2a'

/** JSON-RPC errors with the HTTP status of the API, for requests that the protocol itself does not reject. */
export const a2aErrors: ErrorFormat = {
  prefix: a2aPrefix,
  failure: (error, { body }) => ({ body: rpcErrorResponse(error, idOf(body), body) }),
}
