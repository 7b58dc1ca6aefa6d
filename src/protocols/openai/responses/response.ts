import { isUuid } from '../../../platform/ids.ts'
import type { Completion, Details } from '../completions.ts'
import { completionOf, unixSeconds } from '../completions.ts'
import type { BegunChat } from '../continuation.ts'
import { callerRounds } from '../continuation.ts'
import { turnFailure } from '../errors.ts'
import type { ChatToolCall, ChatUsage } from '../schemas.ts'
import type { ResponseRecord } from './queries.ts'

/** The turn of a response, and the step after which the response begins. */
export interface ResponseRef {
  turnId: string
  afterStep: number
}

export const responseId = ({ turnId, afterStep = 0 }: Pick<BegunChat, 'turnId' | 'afterStep'>): string =>
  `resp_${turnId}${afterStep === 0 ? '' : `-${afterStep}`}`

const idPattern = /^resp_([0-9a-f-]{36})(?:-([1-9]\d{0,4}))?$/

export const parseResponseId = (id: string): ResponseRef | undefined => {
  const [, turnId = '', step = '0'] = idPattern.exec(id) ?? []
  return isUuid(turnId) ? { turnId, afterStep: Number(step) } : undefined
}

export const messageItem = (ref: ResponseRef, text: string, status: string): object => ({
  id: `msg_${responseId(ref).slice(5)}`,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

export const reasoningItem = (ref: ResponseRef, text: string): object => ({
  id: `rs_${responseId(ref).slice(5)}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text }],
})

export const callItem = ({ id, function: { name, arguments: input } }: ChatToolCall, status = 'completed'): object => ({
  id: `fc_${id.slice(5)}`,
  type: 'function_call',
  call_id: id,
  name,
  arguments: input,
  status,
})

const usageOf = ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: total,
  prompt_tokens_details: details,
}: ChatUsage) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: details.cached_tokens },
  output_tokens: output,
  // The tokens of the reasoning are part of the output tokens; models do not report them apart.
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: total,
})

const textFormat = ({ responseFormat }: Details['turn']): object => {
  if (responseFormat === null) return { type: 'text' }
  const { type, schema, name = 'response', description = null, strict = false } = responseFormat
  return { type, name, description, schema, strict }
}

const choiceOf = ({ clientTools }: Details['turn']): unknown => {
  const { choice = 'auto' } = clientTools ?? {}
  return typeof choice === 'object' ? { type: 'function', name: choice.name } : choice
}

const toolsOf = ({ clientTools }: Details['turn']): object[] =>
  (clientTools?.tools ?? []).map(({ name, description = null, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }))

/** A response without its result. */
const frameOf = (ref: ResponseRef, { turn }: Details, record: ResponseRecord) => ({
  id: responseId(ref),
  object: 'response',
  created_at: unixSeconds(turn.createdAt),
  completed_at: null as number | null,
  status: turn.status === 'queued' ? 'queued' : 'in_progress',
  background: record.isBackground,
  error: null as object | null,
  incomplete_details: null as object | null,
  instructions: turn.instructions,
  max_output_tokens: turn.maxOutputTokens,
  max_tool_calls: null,
  metadata: record.metadata,
  model: record.model,
  output: [] as object[],
  parallel_tool_calls: turn.clientTools?.isParallel ?? true,
  previous_response_id: record.previousId,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: record.isStored,
  temperature: 1,
  text: { format: textFormat(turn) },
  tool_choice: choiceOf(turn),
  tools: toolsOf(turn),
  top_logprobs: 0,
  top_p: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  truncation: 'disabled',
  usage: null as object | null,
  user: null,
})
export type ResponseFrame = ReturnType<typeof frameOf>

/** The frame with the end of the response. */
export const withResult = (
  frame: ResponseFrame,
  { finishReason, usage, completedAt }: Pick<Completion, 'finishReason' | 'usage' | 'completedAt'>,
  output: object[],
): ResponseFrame => {
  const reason = finishReason === 'length' ? 'max_output_tokens' : finishReason
  const isIncomplete = finishReason === 'length' || finishReason === 'content_filter'
  return {
    ...frame,
    status: isIncomplete ? 'incomplete' : 'completed',
    completed_at: isIncomplete ? null : unixSeconds(completedAt),
    incomplete_details: isIncomplete ? { reason } : null,
    output,
    usage: usageOf(usage),
  }
}

/** The frame of a response that has failed. */
export const withFailure = (frame: ResponseFrame, error: { code: string | null; message: string }): ResponseFrame => ({
  ...frame,
  status: error.code === 'turn_cancelled' ? 'cancelled' : 'failed',
  error: error.code === 'turn_cancelled' ? null : { code: error.code ?? 'server_error', message: error.message },
})

/** The reasoning of the completed model calls of a response. */
const reasoningOf = ({ turn }: Details, { afterStep }: ResponseRef): string => {
  const last = callerRounds(turn).find(({ step }) => step > afterStep)?.step ?? Number.POSITIVE_INFINITY
  return turn.steps
    .filter(({ step, status }) => step > afterStep && step <= last && status === 'completed')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'reasoning' && part.text !== '' ? [part.text] : [])))
    .join('\n\n')
}

export const outputOf = (
  ref: ResponseRef,
  { text, toolCalls, finishReason }: Completion,
  reasoning: string,
): object[] => [
  ...(reasoning === '' ? [] : [reasoningItem(ref, reasoning)]),
  ...(text === '' && toolCalls.length > 0
    ? []
    : [messageItem(ref, text, finishReason === 'length' ? 'incomplete' : 'completed')]),
  ...toolCalls.map((call) => callItem(call)),
]

export const toFrame = frameOf

/** A response as it is now. */
export const toResponse = (ref: ResponseRef, details: Details, record: ResponseRecord): ResponseFrame => {
  const frame = frameOf(ref, details, record)
  const { turn } = details
  const hasRound = callerRounds(turn).some(({ step }) => step > ref.afterStep)
  const failure = turn.endedAt === null || hasRound ? undefined : turnFailure(turn)
  if (failure) return withFailure(frame, { code: failure.fields.code, message: failure.message })
  if (turn.endedAt === null && !hasRound) return frame
  const completion = completionOf(details, ref.afterStep)
  return completion ? withResult(frame, completion, outputOf(ref, completion, reasoningOf(details, ref))) : frame
}
