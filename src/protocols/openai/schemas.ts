import { Type } from 'typebox'
import type { Static } from 'typebox'

// Names and shapes are those of OpenAI's API: https://platform.openai.com/docs/api-reference/chat

const modelName = { description: '`agent/` and the slug or ID of an agent.', examples: ['agent/assistant'] }
const created = Type.Integer({ description: 'Time of creation, in Unix seconds.', examples: [1_795_304_742] })

const ChatContentPart = Type.Object({
  type: Type.String({ description: '`text`, `image_url` or `file`.', examples: ['text'] }),
  text: Type.Optional(Type.String({ description: 'Text of a `text` part.', examples: ['Hello'] })),
  file: Type.Optional(
    Type.Object(
      {
        file_id: Type.Optional(Type.String({ description: 'ID of a file of the org.' })),
        file_data: Type.Optional(
          Type.String({ description: 'The file as a `data:` URL in base64, in place of `file_id`.' }),
        ),
        filename: Type.Optional(
          Type.String({ maxLength: 255, description: 'Name for `file_data`, 1–255 characters. Default `file`.' }),
        ),
      },
      { description: 'File of a `file` part.' },
    ),
  ),
  image_url: Type.Optional(
    Type.Object(
      { url: Type.String({ description: 'The picture as a `data:` URL in base64. Other URLs are rejected.' }) },
      { description: 'Picture of an `image_url` part.' },
    ),
  ),
})
export type ChatContentPart = Static<typeof ChatContentPart>

const toolCallFields = {
  id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'ID of the call, at most 200 characters.',
    examples: ['call_01a1_a5pe2oxve'],
  }),
}
const CalledFunction = Type.Object(
  {
    name: Type.String({ description: 'Name of the function.', examples: ['get_weather'] }),
    arguments: Type.String({ description: 'Arguments as JSON text.', examples: ['{"city":"Basel"}'] }),
  },
  { description: 'The function and its arguments.' },
)

const GivenToolCall = Type.Object({
  ...toolCallFields,
  type: Type.String({ description: 'Only `function` is supported.', examples: ['function'] }),
  function: Type.Optional(CalledFunction),
})
type GivenToolCall = Static<typeof GivenToolCall>

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'], {
    description:
      'Role of the author. `system` and `developer` messages are added to the instructions of the agent. `tool` is the output of a tool call. `function` is rejected.',
  }),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ChatContentPart), Type.Null()], {
      description: 'Text, or an array of parts. Default: empty.',
    }),
  ),
  tool_calls: Type.Optional(
    Type.Unsafe<GivenToolCall[] | null>({
      type: ['array', 'null'],
      items: GivenToolCall,
      maxItems: 128,
      description: 'Tool calls of an `assistant` message, at most 128. Default: none.',
    }),
  ),
  tool_call_id: Type.Optional(Type.String({ description: 'ID of the call of which a `tool` message is the output.' })),
})
export type ChatMessage = Static<typeof ChatMessage>

const ChatTool = Type.Object({
  type: Type.String({ description: 'Only `function` is supported.', examples: ['function'] }),
  function: Type.Optional(
    Type.Object(
      {
        name: Type.String({
          description: 'Name: 1–64 letters, digits, `_` and `-`. Not that of a tool of the agent.',
          examples: ['get_weather'],
        }),
        description: Type.Optional(
          Type.Unsafe<string | null>({
            type: ['string', 'null'],
            maxLength: 10_000,
            description: 'What the function does, for the model, at most 10,000 characters. Default: the name.',
          }),
        ),
        parameters: Type.Optional(
          Type.Unsafe<Record<string, unknown> | null>({
            type: ['object', 'null'],
            description: 'JSON Schema of the arguments. Default: an object without properties.',
          }),
        ),
      },
      { description: 'The function.' },
    ),
  ),
})
export type ChatTool = Static<typeof ChatTool>

const Tokens = Type.Integer({
  minimum: 1,
  maximum: 100_000_000,
  description: 'Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model.',
})
const rejected = (name: string) => ({ description: `Rejected with \`unsupported_parameter\`: ${name}.` })
const orNull = (type: string, options: object) =>
  Type.Optional(Type.Unsafe<unknown>({ type: [type, 'null'], ...options }))
const arrayOrNull = (name: string) => orNull('array', { items: {}, ...rejected(name) })

export const ChatCompletionCreate = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 300,
      ...modelName,
      description: `${modelName.description} At most 300 characters.`,
    }),
    messages: Type.Array(ChatMessage, {
      minItems: 1,
      maxItems: 2_000,
      description:
        'Messages of the conversation, 1–2,000. The last one must be a `user` message, or the last ones the `tool` messages of all calls before them.',
    }),
    stream: Type.Optional(
      Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description: 'Whether to stream the response as server-sent events. Default false.',
      }),
    ),
    stream_options: Type.Optional(
      Type.Unsafe<{ include_usage?: boolean } | null>({
        type: ['object', 'null'],
        properties: {
          include_usage: {
            type: 'boolean',
            description: 'Whether the stream ends with a chunk that carries `usage`. Default false.',
          },
        },
        description: 'Options of the stream. Default: none.',
      }),
    ),
    max_completion_tokens: Type.Optional(Type.Unsafe<number | null>({ ...Tokens, type: ['integer', 'null'] })),
    max_tokens: Type.Optional(
      Type.Unsafe<number | null>({
        ...Tokens,
        type: ['integer', 'null'],
        description: 'Older name of `max_completion_tokens`, 1–100,000,000. Default: the limit of the model.',
      }),
    ),
    n: orNull('integer', { description: 'Number of choices. Only 1 is supported. Default 1.' }),
    tools: Type.Optional(
      Type.Unsafe<ChatTool[] | null>({
        type: ['array', 'null'],
        items: ChatTool,
        maxItems: 128,
        description:
          'Functions that the client runs, beside the tools of the agent, at most 128 and together 64 KB as JSON. Default: none.',
      }),
    ),
    tool_choice: Type.Optional(
      Type.Unknown({
        description:
          '`auto`, `none`, `required`, or `{ "type": "function", "function": { "name": … } }`. Default `auto`.',
      }),
    ),
    parallel_tool_calls: orNull('boolean', {
      description: 'Whether a completion may contain several calls. Default true.',
    }),
    functions: arrayOrNull('use `tools`'),
    function_call: Type.Optional(Type.Unknown(rejected('use `tool_choice`'))),
    stop: Type.Optional(
      Type.Unknown({
        description:
          'A string of 1–100 characters, or up to four of them. Each response of the model ends before the first one. Default: none.',
        examples: [['END']],
      }),
    ),
    response_format: orNull('object', {
      description:
        'Format of the response: `text`, `json_object`, or `json_schema` with `{ name, schema, description, strict }`. The response is validated, see `responseFormat` of turns; with `stream` it is sent when it was validated. Default: text.',
    }),
    logprobs: orNull('boolean', { description: 'Log probabilities. Only false is supported. Default false.' }),
    modalities: orNull('array', {
      items: {},
      description: 'Output types. Only `["text"]` is supported. Default: text.',
    }),
    audio: orNull('object', rejected('audio is not supported')),
  },
  { examples: [{ model: 'agent/assistant', messages: [{ role: 'user', content: 'Hello' }], stream: false }] },
)
export type ChatCompletionCreate = Static<typeof ChatCompletionCreate>

const ChatUsage = Type.Object(
  {
    prompt_tokens: Type.Integer({
      description: 'Input tokens of the model calls for this completion.',
      examples: [387],
    }),
    completion_tokens: Type.Integer({
      description: 'Output tokens of the model calls for this completion.',
      examples: [87],
    }),
    total_tokens: Type.Integer({ description: 'Input and output tokens together.', examples: [474] }),
    prompt_tokens_details: Type.Object(
      { cached_tokens: Type.Integer({ description: 'Tokens read from the cache.', examples: [0] }) },
      { description: 'Details of the input tokens.' },
    ),
  },
  { description: 'Tokens of the turn.' },
)
export type ChatUsage = Static<typeof ChatUsage>

const ChatToolCall = Type.Object({
  ...toolCallFields,
  type: Type.Literal('function', { description: 'Kind of the call.' }),
  function: CalledFunction,
})
export type ChatToolCall = Static<typeof ChatToolCall>

export const ChatCompletion = Type.Object(
  {
    id: Type.String({
      description: '`chatcmpl-` and the ID of the turn.',
      examples: ['chatcmpl-01a1fc7d-9b47-7384-a5f6-84444f80a265'],
    }),
    object: Type.Literal('chat.completion', { description: 'Type of the object.' }),
    created,
    model: Type.String(modelName),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Always 0.', examples: [0] }),
        message: Type.Object(
          {
            role: Type.Literal('assistant', { description: 'Role of the author.' }),
            content: Type.Unsafe<string | null>({
              type: ['string', 'null'],
              description: 'Reply of the agent. Null when there is none beside tool calls.',
              examples: ['Hello! How can I help?'],
            }),
            tool_calls: Type.Optional(
              Type.Array(ChatToolCall, { description: 'Calls of functions of the client. Absent without any.' }),
            ),
            refusal: Type.Null({ description: 'Always null.' }),
          },
          { description: 'The reply.' },
        ),
        logprobs: Type.Null({ description: 'Always null.' }),
        finish_reason: Type.Enum(['stop', 'length', 'content_filter', 'tool_calls'], {
          description:
            'Why the reply ended. `length`: a limit ended the turn. `tool_calls`: the turn waits for the outputs of `tool_calls`.',
        }),
      }),
      { description: 'Always one choice.' },
    ),
    usage: ChatUsage,
  },
  { description: 'A chat completion.' },
)
export type ChatCompletion = Static<typeof ChatCompletion>

export const ChatModel = Type.Object(
  {
    id: Type.String(modelName),
    object: Type.Literal('model', { description: 'Type of the object.' }),
    created,
    owned_by: Type.String({ description: 'Always `atrium`.', examples: ['atrium'] }),
  },
  { description: 'An agent as a model.' },
)
export type ChatModel = Static<typeof ChatModel>

export const ChatModelList = Type.Object(
  {
    object: Type.Literal('list', { description: 'Type of the object.' }),
    data: Type.Array(ChatModel, { description: 'Active agents of the workspace.' }),
  },
  { description: 'Agents as models.' },
)

export const ChatModelParams = Type.Object({
  model: Type.String({ minLength: 1, description: '`agent/<slug>`, with `%2F` for the slash.' }),
})

/** The error of every rejected request. */
export const ChatFailure = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String({
          description: 'Explanation for people.',
          examples: ['Model not found. GET /api/openai/v1/models lists the available models.'],
        }),
        type: Type.String({ description: 'Kind of the error.', examples: ['invalid_request_error'] }),
        param: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'Parameter that is wrong. Null when it is none.',
          examples: ['model'],
        }),
        code: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'Stable error code, such as `model_not_found`. Null without one.',
          examples: ['model_not_found'],
        }),
      },
      { description: 'The error.' },
    ),
  },
  { description: "The request is rejected with an error in the shape of OpenAI's API." },
)
