import { Type } from 'typebox'

// For the reference only: rpc.ts reads requests, and rejects them with JSON-RPC errors.

export const RpcBody = Type.Unsafe<unknown>({
  description: 'A JSON-RPC 2.0 request or notification. Clients of the revision 2025-03-26 may send an array of them.',
  examples: [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'agents_ask', arguments: { text: 'What does the quarterly report say?' } },
    },
  ],
})

export const RpcResponseBody = Type.Unsafe<object>({
  type: 'object',
  description: 'The JSON-RPC response.',
  additionalProperties: true,
  examples: [
    {
      jsonrpc: '2.0',
      id: 1,
      result: {
        content: [{ type: 'text', text: 'Revenue rose by 8 % in the third quarter.' }],
        isError: false,
      },
    },
  ],
})

export const RpcFailure = Type.Object(
  {
    jsonrpc: Type.Literal('2.0', { description: 'Version of JSON-RPC.' }),
    id: Type.Unsafe<string | number | null>({
      type: ['string', 'integer', 'null'],
      description: 'ID of the request. Null when it could not be read.',
      examples: [1],
    }),
    error: Type.Object(
      {
        code: Type.Integer({
          description: 'Error code of JSON-RPC, or the negative HTTP status code.',
          examples: [-32_600],
        }),
        message: Type.String({ description: 'Explanation for people.', examples: ['Invalid Request'] }),
        data: Type.Optional(Type.Unknown({ description: 'Details of the error.', examples: [null] })),
      },
      { description: 'The error.' },
    ),
  },
  { description: 'The request is rejected with a JSON-RPC error.' },
)
