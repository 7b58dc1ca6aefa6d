import { msg, t } from '@lingui/core/macro'
import type { Agent, AgentCreate } from '@atrium/client'
import { amountProblem, anyAmount, centsOf, dollarsOf } from '../../money.ts'

export interface Voice {
  enabled: boolean
  voiceId: string
  language: string
  speed: number
  pitch: number
  style: string | null
}

/** The state of the form. */
export interface Draft {
  name: string
  slug: string
  description: string
  model: string
  systemPrompt: string
  isActive: boolean
  allowedTools: string[]
  allowedPeers: string[]
  allowedConnectors: string[]
  /** Tools that require approval; `*` for all tools that make changes. */
  approvals: string[]
  /** Empty: as the provider decides. */
  reasoningEffort: string
  /** In the order in which they take over, at most three. */
  fallbackModels: string[]
  /** US dollars; empty for no limit. */
  monthlyCap: string
  voice: Voice
}

const silent: Voice = { enabled: false, voiceId: 'default', language: 'en-US', speed: 1, pitch: 0, style: null }

export const emptyDraft: Draft = {
  name: '',
  slug: '',
  description: '',
  model: '',
  systemPrompt: '',
  isActive: true,
  allowedTools: [],
  allowedPeers: [],
  allowedConnectors: [],
  approvals: [],
  reasoningEffort: '',
  fallbackModels: [],
  monthlyCap: '',
  voice: silent,
}

export const reasoningEfforts = ['none', 'low', 'medium', 'high'] as const

const capOf = (cents: unknown): string => (typeof cents === 'number' ? dollarsOf(cents) : '')

export const draftOf = (agent: Agent): Draft => ({
  name: agent.name,
  slug: agent.slug,
  description: agent.description ?? '',
  model: agent.model,
  systemPrompt: agent.systemPrompt ?? '',
  isActive: agent.isActive,
  allowedTools: agent.allowedTools,
  allowedPeers: agent.allowedPeers,
  allowedConnectors: agent.allowedConnectors,
  approvals: (agent.settings['approvals'] as string[] | undefined) ?? [],
  reasoningEffort: (agent.settings['reasoningEffort'] as string | undefined) ?? '',
  fallbackModels: (agent.settings['fallbackModels'] as string[] | undefined) ?? [],
  monthlyCap: capOf(agent.settings['monthlyCapCents']),
  voice: { ...silent, ...(agent.settings['voice'] as Partial<Voice> | undefined) },
})

const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text)

/** The request body. */
export const bodyOf = ({
  slug: _slug,
  isActive: _isActive,
  model,
  voice,
  approvals,
  reasoningEffort,
  fallbackModels,
  monthlyCap,
  ...draft
}: Draft): AgentCreate => ({
  ...draft,
  ...(model !== '' && { model }),
  description: textOrNull(draft.description),
  systemPrompt: textOrNull(draft.systemPrompt),
  settings: {
    voice: { ...voice, style: textOrNull(voice.style ?? '') },
    approvals: approvals.length > 0 ? approvals : null,
    reasoningEffort: reasoningEffort === '' ? null : reasoningEffort,
    fallbackModels: fallbackModels.length > 0 ? fallbackModels : null,
    monthlyCapCents: centsOf(monthlyCap) ?? null,
  },
})

const lengthOf = (text: string): number => [...text].length

export type Problems = Partial<Record<'name' | 'description' | 'systemPrompt' | 'slug' | 'monthlyCap', string>>

const capProblem = (text: string): string | undefined =>
  text.trim() === '' ? undefined : amountProblem(text, 0, anyAmount)

export const problemsOf = (draft: Draft): Problems => ({
  ...(draft.name.trim() === '' && { name: t`Enter a name.` }),
  ...(lengthOf(draft.name) > 255 && { name: t`The name must be at most 255 characters.` }),
  ...(lengthOf(draft.description) > 5_000 && { description: t`The description must be at most 5,000 characters.` }),
  ...(lengthOf(draft.systemPrompt) > 20_000 && {
    systemPrompt: t`The system prompt must be at most 20,000 characters.`,
  }),
  ...(capProblem(draft.monthlyCap) !== undefined && { monthlyCap: capProblem(draft.monthlyCap) ?? '' }),
})

export const builtInTools = [
  { name: 'files.search', about: msg`Finds files by part of their name` },
  { name: 'files.read', about: msg`Reads documents, spreadsheets, PDF and text` },
  { name: 'files.write', about: msg`Creates text files and replaces their content; keeps the former versions` },
  { name: 'web.fetch', about: msg`Reads public web pages` },
]
