import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { Message } from '../schemas.ts'

export const maxSteps = 16

// What useChat of the AI SDK sends besides is its own business: the server has the history.
const UiPart = Type.Object({
  type: Type.String(),
  text: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  approval: Type.Optional(Type.Object({ id: Type.String(), approved: Type.Optional(Type.Boolean()) })),
})
export const UiMessage = Type.Object({ role: Type.String(), parts: Type.Array(UiPart) })
export type UiMessage = Static<typeof UiMessage>

/** Characters of what is said at once. */
export const maxText = 100_000

export const TurnCreate = Type.Object({
  text: Type.Optional(Type.String({ maxLength: maxText })),
  fileIds: Type.Optional(Type.Array(Id, { maxItems: 20 })),
  agentId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Another agent than the session's, by UUID or slug" }),
  ),
  maxSteps: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxSteps, description: `Calls of the model; ${maxSteps}` }),
  ),
  maxCostCents: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  onBusy: Type.Optional(
    Type.Enum(['enqueue', 'reject', 'interrupt'], {
      description: 'When a turn of the session is under way: wait for it (the default), refuse, or cancel it',
    }),
  ),
  continue: Type.Optional(
    Type.Boolean({ description: 'In place of text: go on with the last turn, which a limit ended before its time' }),
  ),
  background: Type.Optional(Type.Boolean({ description: 'Answer 202 at once' })),
  messages: Type.Optional(
    Type.Array(UiMessage, {
      description: "In place of text: the messages of the AI SDK's useChat; the last one counts",
    }),
  ),
  trigger: Type.Optional(Type.String()),
})
export type TurnCreate = Static<typeof TurnCreate>

const ErrorDetail = Type.Object({ code: Type.String(), message: Type.String() })

export const TurnStatus = Type.Enum([
  'queued',
  'running',
  'requires_action',
  'completed',
  'failed',
  'cancelled',
  'incomplete',
])

const tokens = {
  inputTokens: Type.Integer({ description: 'The whole prompt, with what came from or went to a cache' }),
  outputTokens: Type.Integer(),
  cacheReadTokens: Type.Integer(),
  cacheWriteTokens: Type.Integer(),
}

const Step = Type.Object({
  step: Type.Integer(),
  attempt: Type.Integer({ description: 'Which call of the model for this step' }),
  status: Type.Enum(['running', 'completed', 'failed', 'lost', 'cancelled'], {
    description: 'lost: the process that made the call was killed before its end',
  }),
  finishReason: Nullable(Type.String()),
  ...tokens,
  isEstimate: Type.Boolean({
    description: 'The provider told no tokens, or more than there can be; they are counted from the text',
  }),
  costMicrocents: Type.Integer(),
  error: Nullable(ErrorDetail),
  startedAt: Timestamp,
  endedAt: Nullable(Timestamp),
})

const ToolCall = Type.Object({
  id: Type.String(),
  step: Type.Integer(),
  toolName: Type.String(),
  input: Type.Unknown(),
  status: Type.Enum(['waiting', 'started', 'done', 'failed', 'unknown', 'denied', 'cancelled'], {
    description: 'unknown: it was running when its process was killed; nobody knows what came of it',
  }),
  output: Type.Unknown(),
  attempts: Type.Integer(),
  approvalId: Nullable(Id),
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
})

const Rate = Type.Integer({ description: 'Microcents for a million tokens' })

export const Turn = Type.Object({
  id: Id,
  sessionId: Id,
  agentId: Id,
  userId: Id,
  model: Type.String(),
  chainId: Type.Unsafe<string>({
    ...Id,
    description: 'The turn that began it all, when agents wrote to one another; else its own id',
  }),
  hop: Type.Integer({ description: 'How many messages between agents lead from that turn to this one' }),
  leftOutExchanges: Type.Integer({
    description: 'Exchanges at the beginning of the conversation that no longer fit what its model reads',
  }),
  untrustedFrom: Nullable(
    Type.String({
      description:
        'Where the first untrusted content came from that it has read: the name of a tool, chat, person, peer or project. Null: it has read none',
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
      { description: 'Why it ended. Null while it has not.' },
    ),
  ),
  error: Nullable(ErrorDetail),
  replyId: Id,
  maxSteps: Type.Integer(),
  maxCostCents: Nullable(Type.Integer()),
  attempts: Type.Integer({ description: 'How often a worker took it up: more than once after a crash or an approval' }),
  usage: Type.Object({ ...tokens, totalTokens: Type.Integer(), isEstimate: Type.Boolean() }),
  pricing: Type.Object({ input: Rate, output: Rate, cacheRead: Rate, cacheWrite: Rate }),
  costMicrocents: Type.Integer({ description: "What the model's provider is paid; 10,000 microcents are a cent" }),
  platformFeeMicrocents: Type.Integer(),
  chargedMicrocents: Type.Integer({
    description: 'What the org is charged: cost and fee, or only the fee on its own provider key',
  }),
  steps: Type.Array(Step),
  toolCalls: Type.Array(ToolCall),
  approvals: Type.Array(
    Type.Object({
      approvalId: Id,
      toolCallId: Type.String(),
      toolName: Type.String(),
      input: Type.Unknown(),
      isRepeated: Type.Boolean({ description: 'It was running when its process was killed; else it has not run yet' }),
      kind: Type.Enum(['consent', 'approval', 'repeat'], {
        description:
          "consent: may this agent use the person's connections to the connector; `true` allows it until somebody else changes the agent. approval: run this call. repeat: run it again; nobody knows whether it ran",
      }),
      reason: Type.String({ description: 'Why it is asked, for the person' }),
      agent: Type.Object({ id: Id, slug: Type.String(), name: Type.String() }),
      connector: Nullable(Type.String({ description: 'The slug of the connector whose connection the tool uses' })),
      authorityVersion: Nullable(Type.Integer({ description: 'The version of the agent that a consent is given for' })),
      changedBy: Nullable(
        Type.Object(
          { id: Id, name: Type.String() },
          { description: 'Of a consent: who changed the agent last. Null when that is not known' },
        ),
      ),
      changedAt: Nullable(Timestamp),
      untrustedFrom: Nullable(
        Type.String({
          description:
            'The source of untrusted content because of which it is asked: the name of a tool, chat, person, peer or project',
        }),
      ),
      canDecide: Type.Boolean({ description: 'Whether the caller may decide this' }),
      cannotDecideReason: Nullable(Type.String()),
    }),
    { description: 'What a person has to decide before it goes on' },
  ),
  createdAt: Timestamp,
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
})

export const TurnAnswer = Type.Object({
  turn: Turn,
  message: Type.Optional(Nullable(Message)),
})

export const Cancelled = Type.Object({ cancelled: Type.Boolean() })

export const ApprovalDecision = Type.Object({ approvalId: Id, approved: Type.Boolean() })

export const StreamQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'The last `id:` that was seen' }),
  ),
})

export const SessionStreamParams = Type.Object({ id: Id, chatId: Type.String() })
