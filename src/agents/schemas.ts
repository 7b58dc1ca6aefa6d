import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

/** As many as a list answers in one go when no limit is named. */
export const wholeList = 1_000

/** An agent's UUID or its slug. */
export const AgentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug" }),
})

export const AgentListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Unset: everything, up to ${wholeList} items` }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' })),
})
export type AgentListQuery = Static<typeof AgentListQuery>

const Slugs = (what: string) =>
  Type.Array(Type.String({ maxLength: 255 }), {
    maxItems: 100,
    description: `${what}; unknown ones are kept and grant nothing, an empty list grants nothing`,
  })

const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description:
    '`voice` and `approvals` are normalised, other keys are kept as sent; 32 KB at most. `approvals`: names of tools (in any case, a dot and an underscore are the same), `*` for every tool that is not read-only, `prefix*` such as `http__*`; unknown names are BAD_REQUEST',
})

export const Agent = Type.Object({
  id: Id,
  orgId: Id,
  workspaceId: Nullable(Id),
  name: Type.String(),
  slug: Type.String(),
  description: Nullable(Type.String()),
  avatar: Type.String(),
  model: Type.String(),
  systemPrompt: Nullable(Type.String()),
  allowedTools: Type.Array(Type.String()),
  allowedPeers: Type.Array(Type.String()),
  allowedConnectors: Type.Array(Type.String()),
  isActive: Type.Boolean(),
  isDefault: Type.Boolean({ description: "The org's default agent: every workspace sees it" }),
  settings: Settings,
  authorityChangedBy: Nullable(
    Type.Unsafe<string>({
      ...Id,
      description:
        'The user who made the latest change of the system prompt, model, tools, connectors, peers or approvals (of the name or description, too, when there is no system prompt). The agent uses the connections of this user without asking. Null when that is not known.',
    }),
  ),
  authorityVersion: Type.Integer({
    description: 'Goes up with each of these changes. A consent is valid for one version',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deletedAt: Nullable(Timestamp),
})

const name = Type.String({ minLength: 1, description: '1 to 255 characters once runs of white space are one space' })
const description = Nullable(Type.String({ maxLength: 5_000 }))
const systemPrompt = Nullable(Type.String({ maxLength: 20_000 }))
const avatar = Type.String({ minLength: 1, maxLength: 255 })
const model = Type.String({ description: 'An id of `GET /models`' })

const optional = {
  description: Type.Optional(description),
  model: Type.Optional(model),
  systemPrompt: Type.Optional(systemPrompt),
  avatar: Type.Optional(avatar),
  allowedTools: Type.Optional(Slugs('Tools that the agent may use')),
  allowedPeers: Type.Optional(Slugs('Slugs of agents that it may message')),
  allowedConnectors: Type.Optional(Slugs('Slugs of connectors that it may use')),
  settings: Type.Optional(Settings),
}

export const AgentCreate = Type.Object({ name, ...optional })
export type AgentCreate = Static<typeof AgentCreate>

export const AgentPatch = Type.Object({
  name: Type.Optional(name),
  ...optional,
  settings: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Replaces the keys that it names; null removes one' }),
  ),
  slug: Type.Optional(Type.String({ description: 'Dropped without a word for the default agent, whose slug stays' })),
  isActive: Type.Optional(Type.Boolean()),
})
export type AgentPatch = Static<typeof AgentPatch>

export const Peer = Type.Object({
  id: Id,
  slug: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  avatar: Type.String(),
  isActive: Type.Boolean(),
  canReply: Type.Boolean({ description: 'It lists this agent among its own peers' }),
})

const Microcents = Type.Integer({ description: 'Microcents for a million tokens; 10,000 microcents are a cent' })

export const Model = Type.Object({
  id: Type.String({ description: 'provider/model' }),
  name: Type.String(),
  provider: Type.String(),
  available: Type.Boolean(),
  unavailableReason: Nullable(Type.String()),
  free: Type.Boolean(),
  contextWindow: Nullable(Type.Integer({ description: 'Tokens; null when the provider does not tell' })),
  maxOutputTokens: Nullable(Type.Integer()),
  capabilities: Type.Object({ tools: Type.Boolean(), vision: Type.Boolean(), reasoning: Type.Boolean() }),
  pricing: Nullable(
    Type.Object({ input: Microcents, output: Microcents, cacheRead: Microcents, cacheWrite: Microcents }),
  ),
})
