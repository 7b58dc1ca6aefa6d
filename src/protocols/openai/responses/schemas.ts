import { Type } from 'typebox'
import type { Static } from 'typebox'

// Names and shapes are those of OpenAI's API: https://platform.openai.com/docs/api-reference/responses

const orNull = <T>(type: string | string[], options: object) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [...[type].flat(), 'null'], ...options }))

const Metadata = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  description: 'Up to 16 texts of at most 512 characters, by names of at most 64.',
})

export const ResponseCreate = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 300,
      description: '`agent/` and the slug or ID of an agent. At most 300 characters.',
      examples: ['agent/assistant'],
    }),
    input: Type.Union([Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 2_000 })], {
      description:
        'Text, or up to 2,000 items: messages (`input_text`, `input_image`, `input_file`), `function_call`, `function_call_output`, `item_reference` to an item of an earlier response, and `reasoning`, which is ignored.',
      examples: ['Hello'],
    }),
    instructions: orNull<string>('string', {
      maxLength: 100_000,
      description: "Added to the agent's system prompt for this response, at most 100,000 characters. Default: none.",
    }),
    previous_response_id: orNull<string>('string', {
      maxLength: 100,
      description: 'ID of the response that this one continues, at most 100 characters. Default: none.',
    }),
    stream: orNull<boolean>('boolean', { description: 'Whether to send server-sent events. Default false.' }),
    background: orNull<boolean>('boolean', {
      description: 'Whether to respond at once, with the status `queued` or `in_progress`. Default false.',
    }),
    store: orNull<boolean>('boolean', {
      description:
        'Whether `GET /responses/:id` returns the response. The session keeps the conversation in any case. Default true.',
    }),
    metadata: Type.Optional(
      Type.Union([Metadata, Type.Null()], { description: 'Returned with the response. Default: none.' }),
    ),
    max_output_tokens: orNull<number>('integer', {
      minimum: 1,
      maximum: 100_000_000,
      description:
        'Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model.',
    }),
    text: orNull<Record<string, unknown>>('object', {
      description: '`format`: `text`, `json_object` or `json_schema`. The response is validated. Default: text.',
    }),
    tools: orNull<Record<string, unknown>[]>('array', {
      items: { type: 'object' },
      maxItems: 128,
      description: 'Functions that the client runs, at most 128. Hosted tools are rejected. Default: none.',
    }),
    tool_choice: Type.Optional(
      Type.Unknown({ description: '`auto`, `none`, `required`, or a function by name. Default `auto`.' }),
    ),
    parallel_tool_calls: orNull<boolean>('boolean', {
      description: 'Whether a response may have several function calls. Default true.',
    }),
    include: orNull<string[]>('array', {
      items: { type: 'string' },
      description:
        '`reasoning.encrypted_content` is accepted and has no effect, because the server keeps the reasoning. Others are rejected. Default: none.',
    }),
  },
  { examples: [{ model: 'agent/assistant', input: 'Hello', stream: false }] },
)
export type ResponseCreate = Static<typeof ResponseCreate>

const Item = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  examples: [
    {
      id: 'msg_01a1fc7d-9b47-7384-a5f6-84444f80a265',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello! How can I help?', annotations: [] }],
    },
  ],
  description: 'An item: `message`, `function_call` or `reasoning`.',
  additionalProperties: true,
})

/** A response. The fields are listed where they are made. */
export const ResponseObject = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'A response.',
  additionalProperties: true,
  required: ['id', 'object', 'created_at', 'status', 'model', 'output'],
  properties: {
    id: {
      type: 'string',
      description: '`resp_` and the ID of the turn.',
      examples: ['resp_01a1fc7d-9b47-7384-a5f6-84444f80a265'],
    },
    object: { const: 'response', description: 'Type of the object.' },
    created_at: { type: 'integer', description: 'Time of creation, in Unix seconds.', examples: [1_795_304_742] },
    status: {
      enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
      description: '`in_progress` includes turns that wait for a person to approve a tool call.',
      examples: ['completed'],
    },
    model: { type: 'string', description: 'The agent, as the request named it.', examples: ['agent/assistant'] },
    output: { type: 'array', items: Item, description: 'Reasoning, the message, and function calls.' },
  },
})

export const ResponseParams = Type.Object({
  id: Type.String({
    maxLength: 100,
    description: 'ID of the response, at most 100 characters.',
    examples: ['resp_01a1fc7d-9b47-7384-a5f6-84444f80a265'],
  }),
})

export const DeletedResponse = Type.Object(
  {
    id: Type.String({ description: 'ID of the response.', examples: ['resp_01a1fc7d-9b47-7384-a5f6-84444f80a265'] }),
    object: Type.Literal('response', { description: 'Type of the object.' }),
    deleted: Type.Literal(true, { description: 'Always true.' }),
  },
  { description: 'The response is no longer returned. Its turn stays in its session.' },
)

export const InputItemList = Type.Object(
  {
    object: Type.Literal('list', { description: 'Type of the object.' }),
    data: Type.Array(Item, { description: 'The message of the turn, or the outputs that continued it.' }),
    first_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'ID of the first item. Null without one.',
      examples: ['msg_01a1fc7d-9b47-7384-a5f6-84444f80a265'],
    }),
    last_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'ID of the last item. Null without one.',
      examples: ['msg_01a1fc7d-9b47-7384-a5f6-84444f80a265'],
    }),
    has_more: Type.Boolean({ description: 'Always false.', examples: [false] }),
  },
  { description: 'The input items of a response.' },
)
