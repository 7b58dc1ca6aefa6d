import type { ProviderOptions } from '../models/model-client.ts'
import type { MessagePart } from '../schemas.ts'

/**
 * A part of a model's response as it is stored with the model call. `provider` is what the provider wants back in the next
 * call of the turn, and the model that sent it: no other model gets it. A part with it may be empty.
 */
export type StepPart = MessagePart & { provider?: { model: string; options: ProviderOptions } }

/** The parts that people see. */
export const publicParts = (parts: readonly StepPart[]): MessagePart[] =>
  parts.flatMap(({ provider, ...part }: StepPart) =>
    provider && (part.type === 'text' || part.type === 'reasoning') && part.text === '' ? [] : [part],
  )

/** The text of a response without separators between its blocks: the JSON of a turn with a format. */
export const outputText = (parts: readonly StepPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
