import { badRequest } from '../platform/http/errors.ts'
import type { KnownTools } from '../tool.ts'
import { normaliseApprovals } from './approvals.ts'
import type { Model, ModelCatalog } from './model-catalog.ts'

export interface Voice {
  enabled: boolean
  voiceId: string
  language: string
  speed: number
  pitch: number
  style: string | null
}

export type Settings = Record<string, unknown> & { voice: Voice }

const maxSettingsBytes = 32_768
const maxCapCents = 10_000_000_000

const textOr = <T>(value: unknown, fallback: T): string | T =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : fallback

const clamp = (value: unknown, min: number, max: number, fallback: number): number =>
  typeof value === 'number' ? Math.min(max, Math.max(min, value)) : fallback

/** A complete voice profile: numbers are clamped to their range, invalid values become the default. */
export const normaliseVoice = (value: unknown): Voice => {
  const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return {
    enabled: given['enabled'] === true,
    voiceId: textOr(given['voiceId'], 'default'),
    language: textOr(given['language'], 'en-US'),
    speed: clamp(given['speed'], 0.25, 4, 1),
    pitch: clamp(given['pitch'], -20, 20, 0),
    style: textOr(given['style'], null),
  }
}

export const reasoningEfforts = ['none', 'low', 'medium', 'high'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

/** How much the agent's model reasons; undefined when the provider decides. */
export const reasoningEffortOf = ({ reasoningEffort }: Record<string, unknown>): ReasoningEffort | undefined =>
  reasoningEfforts.find((one) => one === reasoningEffort)

const checkEffort = (effort: unknown): void => {
  if (effort === undefined || effort === null || reasoningEffortOf({ reasoningEffort: effort })) return
  throw badRequest('settings.reasoningEffort must be none, low, medium or high, or null')
}

/** BAD_REQUEST when the agent would have to reason on a model that does not. */
export const checkReasoning = (settings: Record<string, unknown>, { id, capabilities }: Model): void => {
  const effort = reasoningEffortOf(settings)
  if (capabilities.reasoning || effort === undefined || effort === 'none') return
  throw badRequest(`settings.reasoningEffort must be none or null, because the model ${id} does not reason`)
}

const maxFallbackModels = 3

/** The models that are called when the agent's own one fails, in their order. */
export const fallbackModelsOf = ({ fallbackModels }: Record<string, unknown>): string[] =>
  Array.isArray(fallbackModels)
    ? fallbackModels.filter((one) => typeof one === 'string').slice(0, maxFallbackModels)
    : []

/** BAD_REQUEST unless a change names up to three models of the catalog, none of them twice. */
export const checkFallbacks = ({ fallbackModels: given }: Record<string, unknown>, { find }: ModelCatalog): void => {
  if (given === undefined || given === null) return
  const isList = Array.isArray(given) && given.length <= maxFallbackModels && new Set(given).size === given.length
  if (isList && given.every((one) => typeof one === 'string' && find(one)?.capabilities.embeddings === false)) return
  throw badRequest(
    `settings.fallbackModels must be up to ${maxFallbackModels} different ids of models from GET /models, none of them an embedding model`,
  )
}

/** The monthly spending cap of the agent, which billing enforces. */
const checkCap = (cap: unknown): void => {
  if (cap === undefined || cap === null) return
  if (typeof cap !== 'number' || !Number.isSafeInteger(cap) || cap < 0 || cap > maxCapCents) {
    throw badRequest(`settings.monthlyCapCents must be an integer of 0–${maxCapCents}, or null`)
  }
}

/**
 * Settings after a change: its keys replace current ones, null removes a key, `voice` is always complete. BAD_REQUEST
 * when the result exceeds 32 KB of JSON, or when the cap, the reasoning effort or the approvals are invalid.
 */
export const mergeSettings = (
  current: Record<string, unknown>,
  change: Record<string, unknown>,
  knownTools: KnownTools,
): Settings => {
  checkCap(change['monthlyCapCents'])
  checkEffort(change['reasoningEffort'])
  const approvals = normaliseApprovals(change['approvals'], knownTools)
  const changed = approvals === undefined ? change : { ...change, approvals }
  const kept = Object.entries({ ...current, ...changed }).filter(([, value]) => value !== null)
  const settings = { ...Object.fromEntries(kept), voice: normaliseVoice(change['voice'] ?? keptVoice(current, change)) }
  if (Buffer.byteLength(JSON.stringify(settings)) > maxSettingsBytes) {
    throw badRequest('settings must be at most 32 KB as JSON')
  }
  return settings
}

const keptVoice = (current: Record<string, unknown>, change: Record<string, unknown>): unknown =>
  change['voice'] === null ? undefined : current['voice']
