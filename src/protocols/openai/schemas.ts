import { Type } from 'typebox'
import type { Static } from 'typebox'

// The names are those of OpenAI's API, which this part of ours speaks.

const ChatContentPart = Type.Object({
  type: Type.String({ description: '`text`, or `file` for a stored file' }),
  text: Type.Optional(Type.String()),
  file: Type.Optional(
    Type.Object({ file_id: Type.Optional(Type.String({ description: 'The id of a file of the org' })) }),
  ),
})
export type ChatContentPart = Static<typeof ChatContentPart>

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Type.Optional(Type.Union([Type.String(), Type.Array(ChatContentPart), Type.Null()])),
  tool_calls: Type.Optional(Type.Unknown()),
})
export type ChatMessage = Static<typeof ChatMessage>

const Tokens = Type.Integer({
  minimum: 1,
  maximum: 100_000_000,
  description: 'The most that each call of the model may say',
})
const orNull = (type: string) => Type.Optional(Type.Unsafe<unknown>({ type: [type, 'null'] }))

export const ChatCompletionCreate = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 300, description: '`agent/<slug>`' }),
  messages: Type.Array(ChatMessage, { minItems: 1, maxItems: 2_000, description: 'The last one is the user’s' }),
  stream: Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })),
  stream_options: Type.Optional(
    Type.Unsafe<{ include_usage?: boolean } | null>({
      type: ['object', 'null'],
      properties: { include_usage: { type: 'boolean' } },
    }),
  ),
  max_completion_tokens: Type.Optional(Type.Unsafe<number | null>({ ...Tokens, type: ['integer', 'null'] })),
  max_tokens: Type.Optional(
    Type.Unsafe<number | null>({ ...Tokens, type: ['integer', 'null'], description: 'The older name of the same' }),
  ),
  n: orNull('integer'),
  tools: orNull('array'),
  functions: orNull('array'),
  stop: Type.Optional(Type.Unknown()),
  response_format: orNull('object'),
  logprobs: orNull('boolean'),
  modalities: orNull('array'),
  audio: orNull('object'),
})
export type ChatCompletionCreate = Static<typeof ChatCompletionCreate>

const ChatUsage = Type.Object({
  prompt_tokens: Type.Integer({ description: 'Of all calls of the model that the turn took' }),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
})
export type ChatUsage = Static<typeof ChatUsage>

export const ChatCompletion = Type.Object({
  id: Type.String({ description: '`chatcmpl-` and the id of the turn' }),
  object: Type.Literal('chat.completion'),
  created: Type.Integer({ description: 'Unix seconds' }),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Type.String(),
        refusal: Type.Null(),
      }),
      logprobs: Type.Null(),
      finish_reason: Type.Enum(['stop', 'length', 'content_filter']),
    }),
  ),
  usage: ChatUsage,
})
export type ChatCompletion = Static<typeof ChatCompletion>

export const ChatModel = Type.Object({
  id: Type.String({ description: '`agent/<slug>`' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Unix seconds' }),
  owned_by: Type.String(),
})
export type ChatModel = Static<typeof ChatModel>

export const ChatModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(ChatModel) })

export const ChatModelParams = Type.Object({
  model: Type.String({ minLength: 1, description: '`agent/<slug>`, with `%2F` for the slash' }),
})

/** What every refusal looks like here. */
export const ChatFailure = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      code: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    }),
  },
  { description: 'Refused, in the words of OpenAI’s API' },
)
