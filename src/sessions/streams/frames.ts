import type { Question } from '../runtime/questions.ts'

type ShownQuestion = Pick<
  Question,
  'kind' | 'reason' | 'agent' | 'connector' | 'authorityVersion' | 'changedBy' | 'changedAt' | 'untrustedFrom'
>

/** The frames of the AI SDK's UI message stream, version 1, that turns send. */
export type Frame =
  | { type: 'start'; messageId: string; messageMetadata: { turnId: string; sessionId: string } }
  | { type: 'message-metadata'; messageMetadata: { leftOutExchanges: number } }
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
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: string; messageMetadata: { status: string; stopReason: string } }

/** Whether a frame leads into a step of the stream, or out of one; undefined for all others. */
export const leadsIntoStep = ({ type }: Pick<Frame, 'type'>): boolean | undefined => {
  if (type === 'start-step' || type === 'reset-step') return true
  return type === 'finish-step' ? false : undefined
}

/** Whether a stream with these lines is in the middle of a step after them. */
export const endsInStep = (lines: string[]): boolean => {
  const marks = lines.map((line) => leadsIntoStep(JSON.parse(line) as Frame)).filter((mark) => mark !== undefined)
  return marks.at(-1) ?? false
}

/** The text and reasoning of the step that a stream ends in: all that is left of it when it was cut off. */
export const unfinishedParts = (lines: string[]): { type: 'text' | 'reasoning'; text: string }[] => {
  const open = new Map<string, { type: 'text' | 'reasoning'; text: string }>()
  for (const line of lines) {
    const frame = JSON.parse(line) as Frame
    if (frame.type === 'start-step' || frame.type === 'reset-step') open.clear()
    else if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') {
      const part = open.get(frame.id) ?? { type: frame.type === 'text-delta' ? 'text' : 'reasoning', text: '' }
      part.text += frame.delta
      open.set(frame.id, part)
    }
  }
  return [...open.values()]
}
