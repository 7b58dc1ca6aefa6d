// The messages between the server and the thread that reads and writes vectors.
import type { ModelProvider } from '../../config/models.ts'

/** How vectors are written in the response: as lists of numbers, or as the entries of OpenAI's API. */
export type VectorFormat = 'lists' | 'openai-floats' | 'openai-base64'

export interface VectorCall {
  /** Undefined for the built-in model. */
  provider: Pick<ModelProvider, 'protocol' | 'name' | 'baseUrl'> | undefined
  /** The name of the model at the provider. */
  name: string
  apiKey: string | undefined
  input: string[]
  /** The length of the vectors. Default: that of the model. */
  dimensions: number | undefined
  format: VectorFormat
}

export interface ProviderRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string
}

export interface ProviderResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer>
}

export interface Vectors {
  /** A JSON array with one entry for each text, in the same order, all of the same length. */
  json: Uint8Array
  dimensions: number
  /** Undefined when the provider did not report them. */
  inputTokens: number | undefined
}

/** What `toModelFailure` reads of an error of a provider's client. */
export interface ClientError {
  name: string
  statusCode: number | undefined
  responseHeaders: Record<string, string> | undefined
}

/** Why there are no vectors: the provider's client failed, the model takes fewer texts, or vectors are missing. */
export type VectorFault = { error: ClientError } | { maxTexts: number } | { unreadable: true }

/** `id`: of the call. */
export type ToThread =
  | { id: number; call: VectorCall }
  | { id: number; response: ProviderResponse }
  | { id: number; cancel: true }

export type FromThread =
  | { id: number; request: ProviderRequest }
  | { id: number; vectors: Vectors }
  | { id: number; fault: VectorFault }
