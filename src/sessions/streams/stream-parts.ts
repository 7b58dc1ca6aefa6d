import type { Question } from '../runtime/steps/questions.ts'

type ShownQuestion = Pick<
  Question,
  'kind' | 'reason' | 'agent' | 'connector' | 'authorityVersion' | 'changedBy' | 'changedAt' | 'untrustedFrom' | 'form'
>

/** The parts of the AI SDK's UI message stream, version 1 (ai-sdk.dev/docs/ai-sdk-ui/stream-protocol), that turns send. */
export type StreamPart =
  | { type: 'start'; messageId: string; messageMetadata: { turnId: string; sessionId: string } }
  | { type: 'message-metadata'; messageMetadata: { leftOutExchanges: number } | { model: string } }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic: true }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic: true }
  | { type: 'tool-input-error'; toolCallId: string; toolName: string; input: unknown; errorText: string; dynamic: true }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; dynamic: true }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic: true }
  | { type: 'tool-output-denied'; toolCallId: string }
  | ({ type: 'tool-approval-request'; approvalId: string; toolCallId: string } & ShownQuestion)
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean }
  | { type: 'data-tool-outputs-required'; data: { toolCallIds: string[] }; transient: true }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: string; messageMetadata: { status: string; stopReason: string } }

const resetStep = '{"type":"reset-step"'
const approvalResponse = '{"type":"tool-approval-response"'
const startStep: StreamPart = { type: 'start-step' }

/**
 * A line for version 6 of the AI SDK, which stops reading at a part that it does not know: a repeated model call becomes a
 * new step, and decisions are left out (undefined), because the client sees their effect. Lines begin with their type.
 */
export const lineForVersion6 = (line: string): string | undefined => {
  if (line.startsWith(approvalResponse)) return undefined
  return line.startsWith(resetStep) ? JSON.stringify(startStep) : line
}

/** Whether the stream is inside a step after a part that begins or ends one; undefined for every other part. */
export const isInStepAfter = ({ type }: Pick<StreamPart, 'type'>): boolean | undefined => {
  if (type === 'start-step' || type === 'reset-step') return true
  return type === 'finish-step' ? false : undefined
}

/** Whether a stream with these lines ends between a `start-step` and its `finish-step`. */
export const endsInsideStep = (lines: string[]): boolean => {
  const states = lines.map((line) => isInStepAfter(JSON.parse(line) as StreamPart)).filter((one) => one !== undefined)
  return states.at(-1) ?? false
}

/** What an interrupted model call has written in the last step. */
export interface Unfinished {
  /** Its text and reasoning, which are all that it leaves. */
  parts: { type: 'text' | 'reasoning'; text: string }[]
  /** The arguments of its tool calls. */
  inputs: string
}

export const unfinishedIn = (lines: string[]): Unfinished => {
  const open = new Map<string, Unfinished['parts'][number]>()
  let inputs = ''
  for (const line of lines) {
    const part = JSON.parse(line) as StreamPart
    if (part.type === 'start-step' || part.type === 'reset-step') {
      open.clear()
      inputs = ''
    } else if (part.type === 'tool-input-delta') inputs += part.inputTextDelta
    else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const message = open.get(part.id) ?? { type: part.type === 'text-delta' ? 'text' : 'reasoning', text: '' }
      message.text += part.delta
      open.set(part.id, message)
    }
  }
  return { parts: [...open.values()], inputs }
}
