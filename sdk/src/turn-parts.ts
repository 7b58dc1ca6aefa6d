import type { Turn } from './types.ts'

type Approval = Turn['approvals'][number]

/**
 * The parts of a turn's stream: those of the AI SDK's UI message stream, version 1
 * (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). Later servers can send further types: ignore them.
 */
export type TurnPart =
  /** The first part. `messageId` is the ID of the reply. */
  | { type: 'start'; messageId: string; messageMetadata: { turnId: string; sessionId: string } }
  /** A fallback model took over, or the conversation exceeds the context window. */
  | { type: 'message-metadata'; messageMetadata: { leftOutExchanges: number } | { model: string } }
  /** Around each model call with its tools. `reset-step`: the call is repeated; discard the content of this step. */
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
  /** The turn waits for a decision, which `POST /turns/:id/approvals` gives. */
  | ({ type: 'tool-approval-request'; approvalId: string; toolCallId: string } & Pick<Approval, 'kind' | 'reason'>)
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean }
  /** The turn waits for outputs, which `POST /turns/:id/tool-outputs` gives. */
  | { type: 'data-tool-outputs-required'; data: { toolCallIds: string[] }; transient: true }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  /** The last part. `status` is that of the turn. */
  | { type: 'finish'; finishReason: string; messageMetadata: { status: Turn['status']; stopReason: string } }
