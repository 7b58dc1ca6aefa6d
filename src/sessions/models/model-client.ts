import type { JSONValue } from '@ai-sdk/provider'
import type { AttachedFile } from './attached-files.ts'
import type { OutputFormat } from '../output/schemas.ts'
import type { ReasoningEffort } from '../../agents/agents.ts'

/** A picture or PDF file of a message. Its bytes are in the `media` of the call, so that messages stay small. */
export interface PromptFile extends AttachedFile {
  /** Estimated for the model of the call; undefined while it is not decided whether the model is shown the file. */
  tokens?: number
  /** A picture that a tool returned and the turn keeps: `fileId` is its id in the state of the turn. */
  isKept?: boolean
}

/** The bytes of a file that the model is shown. */
export interface PromptMedia {
  mimeType: string
  name: string
  bytes: Buffer
}

/** A message of the conversation in a format that is independent of the provider. */
export type PromptMessage =
  | { role: 'user'; text: string; files?: PromptFile[] }
  | { role: 'assistant'; parts: AssistantPart[] }
  | { role: 'tool'; results: ToolResult[] }

/**
 * What a provider wants back with a part of its response, such as the signature of its reasoning, by the name of the
 * protocol. Only the model that sent it can read it.
 */
export type ProviderOptions = Record<string, Record<string, JSONValue | undefined>>

export type AssistantPart = (
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; callId: string; toolName: string; input: unknown }
) & { options?: ProviderOptions }

export interface ToolResult {
  callId: string
  toolName: string
  output: unknown
  isError: boolean
  /** Pictures that the tool returned. */
  files?: PromptFile[]
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
  /** Whether it must call a tool, this tool, or none. Default: the model decides. */
  toolChoice?: 'none' | 'required' | { name: string }
  /** The bytes of the files of the messages, by the id of the file. */
  media?: ReadonlyMap<string, PromptMedia>
  /** Texts before which the response ends. A provider may ignore them. */
  stopSequences?: readonly string[]
  maxOutputTokens?: number
  /** For models that follow a schema by themselves. Others are told in the instructions. */
  responseFormat?: OutputFormat
  /** The org for which the call is made. */
  orgId: string
  /** How much the model reasons before it responds. Default: as the provider decides. */
  reasoningEffort?: ReasoningEffort
  /** The org's own key at the provider. Default: the operator's key. */
  apiKey?: string
}

/** Tokens of one call. `inputTokens` is the whole prompt, including tokens that were read from or written to a cache. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'

/** A streamed piece of a model's response. Ids are assigned by the provider and unique only within one call. */
export type ModelEvent =
  | { type: 'text' | 'reasoning'; id: string; delta: string; options?: ProviderOptions }
  | { type: 'tool-input'; id: string; toolName: string; delta: string }
  | { type: 'tool-call'; id: string; toolName: string; input: string; options?: ProviderOptions }
  /** `usage` is undefined when the provider did not report it. */
  | { type: 'finish'; reason: FinishReason; usage: ModelUsage | undefined }

export type FailureCode = 'rate_limited' | 'unavailable' | 'rejected' | 'silent' | 'cut'

/** A model call that failed. The message is public; the provider's own error is the cause, and is only logged. */
export class ModelFailure extends Error {
  readonly code: FailureCode
  /** The provider's `Retry-After`, in milliseconds. */
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

  /** Whether a retry of the same call may succeed. */
  get isTransient(): boolean {
    return this.code !== 'rejected'
  }
}

/** Calls models. `stream` throws a ModelFailure or the signal's reason; an end without `finish` means a broken connection. */
export interface ModelClient {
  stream(call: ModelCall, signal: AbortSignal): AsyncIterable<ModelEvent>
}
