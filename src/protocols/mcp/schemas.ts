import { Type } from 'typebox'

// For the reference only: what comes in is read by rpc.ts, whose refusals are JSON-RPC errors.

export const RpcBody = Type.Unsafe<unknown>({
  description: 'One JSON-RPC 2.0 request or notification; clients of the revision 2025-03-26 may send a list of them',
})

export const RpcAnswer = Type.Unsafe<object>({
  type: 'object',
  description: 'The JSON-RPC response',
  additionalProperties: true,
})

export const RpcFailure = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }),
    error: Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
  },
  { description: 'Refused, as a JSON-RPC error' },
)
