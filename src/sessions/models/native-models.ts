import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelProtocol } from '../../config/models.ts'

export type NativeProtocol = Exclude<ModelProtocol, 'openai-compatible'>

/** All fields are required, because the clients read missing ones from variables such as OPENAI_API_KEY. */
export interface NativeSettings {
  baseURL: string
  apiKey: string
  fetch: typeof globalThis.fetch
}

/**
 * Opens a model by the native API of its provider. Each provider's client uses about 1 MB of memory, so it is loaded on
 * first use: a server that calls only other providers never loads it.
 */
export const openNativeModel = async (
  protocol: NativeProtocol,
  name: string,
  settings: NativeSettings,
): Promise<LanguageModelV4> => {
  if (protocol === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI(settings).responses(name)
  }
  if (protocol === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic(settings).messages(name)
  }
  const { createGoogle } = await import('@ai-sdk/google')
  return createGoogle(settings).languageModel(name)
}
