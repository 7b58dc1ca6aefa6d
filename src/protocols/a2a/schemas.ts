import { Type } from 'typebox'

// For the reference only: the library reads and writes the messages.

export const TaskCall = Type.Unsafe<unknown>({
  type: 'object',
  description: 'A JSON-RPC 2.0 request of the A2A protocol, revision 1.0 or 0.3.',
  examples: [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'What is new?' }] } },
    },
  ],
})

export const TaskAnswer = Type.Unsafe<object>({
  type: 'object',
  description: 'The JSON-RPC response.',
  additionalProperties: true,
  examples: [
    {
      jsonrpc: '2.0',
      id: 1,
      result: {
        task: {
          id: '01a1fc7d-9b47-7384-a5f6-84444f80a265',
          contextId: '01a1fc7d-9b40-7b9d-8fd1-6b7b2c9f1a11',
          status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-11-22T10:00:00.000Z' },
          artifacts: [{ artifactId: 'reply', name: 'Reply', parts: [{ text: 'Nothing.' }] }],
        },
      },
    },
  ],
})

export const CardParams = Type.Object({
  agent: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Slug or ID of the agent, at most 255 characters.',
    examples: ['assistant'],
  }),
})

export const Card = Type.Unsafe<object>({
  type: 'object',
  description: 'The agent card, with the fields of the revisions 1.0 and 0.3.',
  additionalProperties: true,
  examples: [
    {
      name: 'Assistant',
      description: 'The agent Assistant.',
      version: '1.0.0',
      supportedInterfaces: [
        {
          url: 'https://atrium.example.com/a2a/assistant',
          protocolBinding: 'JSONRPC',
          protocolVersion: '1.0',
          tenant: '',
        },
      ],
    },
  ],
})
