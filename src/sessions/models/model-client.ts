/** What a model is told: the whole conversation, in our words. */
export type PromptMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; parts: AssistantPart[] }
  | { role: 'tool'; results: ToolResult[] }

export type AssistantPart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; callId: string; toolName: string; input: unknown }

export interface ToolResult {
  callId: string
  toolName: string
  output: unknown
  isError: boolean
}

export interface ModelTool {
  name: string
  description: string
  /** JSON schema of an object. */
  inputSchema: object
}

export interface ModelCall {
  /** `provider/model` */
  modelId: string
  instructions: string
  messages: PromptMessage[]
  tools: readonly ModelTool[]
  maxOutputTokens?: number
  /** In place of the operator's, at the model's provider. */
  apiKey?: string
}

/** Tokens of one call. `inputTokens` is the whole prompt, with what came from and went to a cache. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'

/** What a model says, as it says it. Ids are the provider's and only tie together what belongs together in one call. */
export type ModelEvent =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  | { type: 'tool-input'; id: string; toolName: string; delta: string }
  | { type: 'tool-call'; id: string; toolName: string; input: string }
  /** `usage` is undefined when the provider did not tell. */
  | { type: 'finish'; reason: FinishReason; usage: ModelUsage | undefined }

export type FailureCode = 'rate_limited' | 'unavailable' | 'rejected' | 'silent' | 'cut'

/** A call that did not come to its end. The message is public; what the provider really said is the cause. */
export class ModelFailure extends Error {
  readonly code: FailureCode
  /** How long the provider asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: FailureCode,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ModelFailure'
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }

  /** Whether the same call may go well another time. */
  get isTransient(): boolean {
    return this.code !== 'rejected'
  }
}

/** One call of a model. It throws a ModelFailure, or the signal's reason; ending without a `finish` is a cut. */
export interface ModelClient {
  stream(call: ModelCall, signal: AbortSignal): AsyncIterable<ModelEvent>
}
