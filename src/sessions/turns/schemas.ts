import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, TimestampOf } from '../../platform/http/schemas.ts'
import { Message } from '../schemas.ts'
import { ResponseFormat } from '../output/schemas.ts'
import { RequiredToolOutput, toolFields } from './caller-tools/schemas.ts'
import { Approval } from './approval-schemas.ts'

export const maxSteps = 16

// useChat of the AI SDK sends more fields, which are ignored: the server has the history.
const UiPart = Type.Object({
  type: Type.String({ description: 'Type of the part, such as `text` or `file`.', examples: ['text'] }),
  text: Type.Optional(Type.String({ description: 'Text of a `text` part.', examples: ['Hello'] })),
  url: Type.Optional(Type.String({ description: 'URL of a `file` part.' })),
  state: Type.Optional(Type.String({ description: 'State of a tool part.' })),
  approval: Type.Optional(
    Type.Object(
      {
        id: Type.String({ description: 'ID of the approval.' }),
        approved: Type.Optional(Type.Boolean({ description: 'The decision. Absent while it is open.' })),
      },
      { description: 'Approval of a tool part.' },
    ),
  ),
})
export const UiMessage = Type.Object({
  role: Type.String({ description: 'Role of the author, such as `user`.', examples: ['user'] }),
  parts: Type.Array(UiPart, { description: 'Parts of the message.' }),
})
export type UiMessage = Static<typeof UiMessage>

/** Maximum length of a message in characters. */
export const maxText = 100_000

export const TurnCreate = Type.Object(
  {
    text: Type.Optional(
      Type.String({
        maxLength: maxText,
        description: 'Text of the message, at most 100,000 characters. Required without `fileIds`.',
      }),
    ),
    fileIds: Type.Optional(
      Type.Array(Id, { maxItems: 20, description: 'IDs of uploaded files to attach, at most 20. Default: none.' }),
    ),
    agentId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Agent that replies: UUID or slug, at most 255 characters. Default: the agent of the session.',
      }),
    ),
    maxSteps: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxSteps,
        description: `Maximum number of model calls, 1–${maxSteps}, counted again after each output of a tool of the caller. Default ${maxSteps}.`,
      }),
    ),
    maxCostCents: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Cost after which the turn ends, in cents, 1–1,000,000. Default: no limit.',
      }),
    ),
    onBusy: Type.Optional(
      Type.Enum(['enqueue', 'reject', 'interrupt'], {
        description:
          'What to do while another turn of the session is running. `enqueue`: wait for it. `reject`: return CONFLICT. `interrupt`: cancel it and all queued turns. Default `enqueue`.',
      }),
    ),
    ...toolFields,
    responseFormat: Type.Optional(ResponseFormat),
    continue: Type.Optional(
      Type.Boolean({ description: 'Continue the last turn, which a limit ended, in place of `text`. Default false.' }),
    ),
    replaces: Type.Optional(
      IdOf(
        'ID of one of your own messages of this session that started a turn. The new message becomes another version of it: from then on the agent sees neither that message nor what follows it. Without `text` and `fileIds`, the same message is sent again. CONFLICT while a turn of the session is running, unless `onBusy` is `interrupt`. Default: none.',
      ),
    ),
    background: Type.Optional(
      Type.Boolean({ description: 'Return 202 at once instead of waiting for the reply. Default false.' }),
    ),
    messages: Type.Optional(
      Type.Array(UiMessage, {
        description:
          'Messages of `useChat` of the AI SDK, in place of `text`. Only the last one is used. Default: none.',
      }),
    ),
    trigger: Type.Optional(
      Type.String({
        description:
          'Trigger of `useChat` of the AI SDK. `regenerate-message`: the last item of `messages` is sent again in place of the message whose reply is `messageId`, as with `replaces`. All others send a new message. Default: none.',
      }),
    ),
    messageId: Type.Optional(
      Nullable(
        Type.String({
          description:
            'With `regenerate-message`: ID of the reply to replace. Default, also for null: the last one of the session.',
          examples: ['01a1fc7d-9fd0-79dc-a335-45f9cc19b81e'],
        }),
      ),
    ),
  },
  { examples: [{ text: 'What does the quarterly report say?', maxSteps: 8, onBusy: 'enqueue' }] },
)
export type TurnCreate = Static<typeof TurnCreate>

const ErrorDetail = Type.Object({
  code: Type.String({ description: 'Error code, such as `model_unavailable`.', examples: ['model_unavailable'] }),
  message: Type.String({ description: 'Explanation for people.', examples: ['The model is not available.'] }),
})

export const TurnStatus = Type.Enum(
  ['queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'incomplete'],
  {
    description:
      '`queued`: waits for a worker or for the turn before it. `requires_action`: waits for a decision, see `approvals`, or for outputs of tools of the caller, see `requiredToolOutputs`. `incomplete`: a limit ended the turn, see `stopReason`. `failed`: see `error`.',
    examples: ['completed'],
  },
)

const tokens = {
  inputTokens: Type.Integer({
    description: 'Input tokens, including those read from or written to a cache.',
    examples: [959],
  }),
  outputTokens: Type.Integer({ description: 'Output tokens.', examples: [41] }),
  cacheReadTokens: Type.Integer({ description: 'Tokens read from the cache.', examples: [0] }),
  cacheWriteTokens: Type.Integer({ description: 'Tokens written to the cache.', examples: [0] }),
}

const Step = Type.Object(
  {
    step: Type.Integer({ description: 'Number of the step, from 1.', examples: [1] }),
    attempt: Type.Integer({ description: 'Number of the attempt of this step, from 1.', examples: [1] }),
    model: Type.String({ description: 'ID of the model that was called.', examples: ['anthropic/claude-sonnet-4-5'] }),
    status: Type.Enum(['running', 'completed', 'failed', 'lost', 'cancelled'], {
      description: 'Status of the call. `lost`: the server process ended during the call.',
      examples: ['completed'],
    }),
    finishReason: Nullable(
      Type.String({
        description: 'Why the model stopped, such as `stop` or `tool-calls`. Null before that.',
        examples: ['tool-calls'],
      }),
    ),
    ...tokens,
    isEstimate: Type.Boolean({
      description:
        'Whether tokens are counted from the text, because the provider reported none or an impossible number.',
    }),
    costMicrocents: Type.Integer({
      description: 'Cost of the call, in microcents (10,000 are one cent).',
      examples: [3_492],
    }),
    error: Nullable(ErrorDetail, 'Why the call failed. Null when it did not.'),
    startedAt: TimestampOf('Time when the call started.'),
    endedAt: Nullable(TimestampOf('Time when the call ended. Null before that.')),
  },
  { description: 'A model call of the turn.' },
)

const ToolCall = Type.Object(
  {
    id: Type.String({ description: 'ID of the call, unique within the turn.', examples: ['a5pe2oxve'] }),
    step: Type.Integer({ description: 'Number of the step that made the call.', examples: [1] }),
    toolName: Type.String({ description: 'Name of the tool.', examples: ['files.read'] }),
    input: Type.Unknown({
      description: 'Arguments of the call.',
      examples: [{ fileId: '01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1' }],
    }),
    status: Type.Enum(['waiting', 'started', 'done', 'failed', 'unknown', 'denied', 'cancelled'], {
      description:
        '`waiting`: not started, or waits for a decision. `started`: runs, or waits for the output of a tool of the caller. `denied`: a person decided against it. `unknown`: the server process ended during the call, so its outcome is unknown.',
      examples: ['done'],
    }),
    output: Type.Unknown({
      description: 'Result of the call. Null before it ends.',
      examples: [{ name: 'report.txt', text: 'Revenue rose by 8 % in the third quarter.', truncated: false }],
    }),
    attempts: Type.Integer({ description: 'Number of times the call was started.', examples: [1] }),
    approvalId: Nullable(
      Type.String({ format: 'uuid', description: 'ID of the approval. Null when none is needed.', examples: [null] }),
    ),
    startedAt: Nullable(TimestampOf('Time when the call started. Null before that.')),
    endedAt: Nullable(TimestampOf('Time when the call ended. Null before that.')),
  },
  { description: 'A tool call of the turn.' },
)

const Rate = (of: string, example: number) =>
  Type.Integer({ description: `Price of ${of}, in microcents for a million tokens.`, examples: [example] })

export const Turn = Type.Object(
  {
    id: Id,
    sessionId: IdOf('ID of the session.'),
    agentId: IdOf('ID of the agent.'),
    userId: IdOf('ID of the user for whom the turn runs.'),
    model: Type.String({
      description: "ID of the agent's model when the turn was created.",
      examples: ['anthropic/claude-sonnet-4-5'],
    }),
    answerModel: Nullable(
      Type.String({
        description:
          'ID of the model that responded last: `model`, or a fallback model of the agent. Null before the first response.',
        examples: ['anthropic/claude-sonnet-4-5'],
      }),
    ),
    chainId: IdOf('ID of the first turn, when agents message each other. Otherwise the ID of this turn.'),
    hop: Type.Integer({
      description: 'Number of messages between agents from the first turn to this one. 0 for the first.',
      examples: [0],
    }),
    leftOutExchanges: Type.Integer({
      description: 'Number of the oldest exchanges that do not fit into the context window of the model.',
      examples: [0],
    }),
    untrustedFrom: Nullable(
      Type.String({
        description:
          'Source of the first untrusted content that the turn has read: the name of a tool, or `chat`, `person`, `peer` or `project`. Null when it has read none.',
        examples: [null],
      }),
    ),
    status: TurnStatus,
    stopReason: Nullable(
      Type.Enum(
        [
          'stop',
          'cancelled',
          'max_steps',
          'max_time',
          'max_tokens',
          'max_cost',
          'content_filter',
          'stream_truncated',
          'error',
        ],
        {
          description:
            'Why the turn ended. `stop`: the model was done. `max_…`: a limit was reached. `content_filter`: the provider withheld the rest. `stream_truncated`: the response of the provider broke off. Null before that.',
        },
      ),
      'Why the turn ended. Null before that.',
    ),
    error: Nullable(
      Type.Unsafe<Static<typeof ErrorDetail>>({ ...ErrorDetail, examples: [null] }),
      'Why the turn failed. Null when it did not.',
    ),
    replyId: IdOf('ID of the message with the reply.'),
    output: Type.Unknown({
      description:
        'Parsed reply of a completed turn with a `responseFormat` of the type `json_schema`. Null for other turns, and before the end.',
      examples: [null],
    }),
    maxSteps: Type.Integer({
      description: 'Maximum number of model calls, counted again after each output of a tool of the caller.',
      examples: [16],
    }),
    maxCostCents: Nullable(
      Type.Integer({ description: 'Cost after which the turn ends, in cents. Null: no limit.', examples: [null] }),
    ),
    attempts: Type.Integer({
      description: 'Number of times a worker started the turn. More than 1 after a crash or an approval.',
      examples: [1],
    }),
    usage: Type.Object(
      {
        ...tokens,
        totalTokens: Type.Integer({ description: 'Input and output tokens together.', examples: [1_000] }),
        isEstimate: Type.Boolean({ description: 'Whether some of the tokens are counted from the text.' }),
      },
      { description: 'Tokens of all model calls.' },
    ),
    pricing: Type.Object(
      {
        input: Rate('input tokens', 3_000_000),
        output: Rate('output tokens', 15_000_000),
        cacheRead: Rate('tokens read from the cache', 300_000),
        cacheWrite: Rate('tokens written to the cache', 3_750_000),
      },
      { description: 'Prices of the model when the turn was created.' },
    ),
    costMicrocents: Type.Integer({
      description: 'Cost of the model calls at the provider, in microcents (10,000 are one cent).',
      examples: [3_492],
    }),
    platformFeeMicrocents: Type.Integer({ description: 'Platform fee, in microcents.', examples: [175] }),
    chargedMicrocents: Type.Integer({
      description:
        "Amount charged to the org, in microcents: cost and fee, or only the fee with the org's own provider key.",
      examples: [3_667],
    }),
    steps: Type.Array(Step, { description: 'Model calls, in order.' }),
    toolCalls: Type.Array(ToolCall, { description: 'Tool calls, in order.' }),
    approvals: Type.Array(Approval, {
      description: 'Decisions that the turn waits for.',
      examples: [[]],
    }),
    requiredToolOutputs: Type.Array(RequiredToolOutput, {
      description: "Calls of the caller's tools whose outputs the turn waits for.",
      examples: [[]],
    }),
    createdAt: CreatedAt,
    startedAt: Nullable(TimestampOf('Time when a worker started the turn. Null before that.')),
    endedAt: Nullable(TimestampOf('Time when the turn ended. Null before that.')),
  },
  { description: 'A turn: the work of an agent on one message.' },
)

export const TurnAnswer = Type.Object(
  {
    turn: Turn,
    message: Type.Optional(Nullable(Message, 'The reply. Null when there is none; absent while the turn is running.')),
  },
  { description: 'The turn with its reply.' },
)

export const Cancelled = Type.Object(
  {
    cancelled: Type.Boolean({
      description: 'Whether the turn is cancelled, now or before. False when it had ended or nothing was running.',
      examples: [true],
    }),
  },
  { description: 'The result of the cancellation.' },
)

export const StreamQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description:
        'The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame.',
    }),
  ),
})

export const SessionStreamParams = Type.Object({
  id: IdOf('ID of the session.'),
  chatId: Type.String({ description: 'ID of the chat in `useChat`. The server does not interpret it.' }),
})
