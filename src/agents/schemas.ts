import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, TimestampOf, UpdatedAt, WholeListQuery } from '../platform/http/schemas.ts'

/** Number of items that a list returns when no limit is sent. */
export const wholeList = 1_000

/** An agent's UUID or its slug. */
export const AgentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug." }),
})

export const AgentListQuery = WholeListQuery
export type AgentListQuery = Static<typeof AgentListQuery>

const Names = (description: string, examples: string[]) =>
  Type.Array(Type.String({ maxLength: 255 }), {
    maxItems: 100,
    description: `${description} At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.`,
    examples: [examples],
  })

const settingsExample = {
  voice: { enabled: true, voiceId: 'default', language: 'en-US', speed: 1, pitch: 0, style: null },
  approvals: ['files.write'],
}

const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Settings of the agent, at most 32 KB as JSON. `voice` and `approvals` are normalised; other keys are stored as sent. `approvals` lists tools that need approval: a tool name (letter case ignored, `.` and `_` are the same), `*` for every tool that is not read-only, or a prefix such as `http__*`. Unknown tool names are rejected with BAD_REQUEST. `monthlyCapCents` is the most that the agent may be charged in a month. `reasoningEffort` is how much the model reasons before it responds: `none`, `low`, `medium` or `high`, by default as the provider decides; BAD_REQUEST for a model without the capability `reasoning`, except `none`. `fallbackModels` is a list of up to three models that are called, in this order, when a model is overloaded, fails or is silent before its first text. Default: empty.',
  examples: [settingsExample],
})

const name = 'Name, 1–255 characters after runs of white space are collapsed.'
const about = 'What the agent is for, at most 5,000 characters.'
const prompt = 'System prompt of the model, at most 20,000 characters.'
const picture = 'Avatar identifier, 1–255 characters. The server does not interpret it.'
const modelId = 'ID of a model from `GET /models`.'
const tools = 'Names of the tools that the agent may use.'
const peers = 'Slugs of the agents that the agent may message.'
const connectors = 'Slugs of the connectors that the agent may use.'

const avatarExample = { examples: ['default'] }
const nameExample = { examples: ['Release notes'] }
const slugExample = { examples: ['release-notes'] }
const aboutExample = { examples: ['Writes release notes from merged pull requests.'] }
const promptExample = { examples: ['Write release notes for engineers. Group changes by area.'] }
const modelExample = { examples: ['anthropic/claude-sonnet-4-5'] }

export const Agent = Type.Object(
  {
    id: Id,
    orgId: IdOf('ID of the org that owns the agent.'),
    workspaceId: Nullable(IdOf('ID of the workspace of the agent. Null for the default agent of the org.')),
    name: Type.String({ description: 'Name of the agent.', ...nameExample }),
    slug: Type.String({ description: 'Short name, unique within the org. Made from the name.', ...slugExample }),
    description: Nullable(Type.String({ description: about, ...aboutExample })),
    avatar: Type.String({ description: 'Avatar identifier.', ...avatarExample }),
    model: Type.String({ description: 'ID of the model that the agent runs on.', ...modelExample }),
    systemPrompt: Nullable(Type.String({ description: prompt, ...promptExample })),
    allowedTools: Type.Array(Type.String(), { description: tools, examples: [['files.search', 'files.read']] }),
    allowedPeers: Type.Array(Type.String(), { description: peers, examples: [['assistant']] }),
    allowedConnectors: Type.Array(Type.String(), { description: connectors, examples: [['github']] }),
    isActive: Type.Boolean({
      description: 'Whether the agent responds. Inactive agents stay listed.',
      examples: [true],
    }),
    isDefault: Type.Boolean({
      description: 'Whether this is the default agent of the org, which every workspace sees.',
    }),
    settings: Settings,
    authorityChangedBy: Nullable(
      IdOf(
        'ID of the user who last changed the system prompt, model, tools, connectors, peers or approvals (without a system prompt, also the name or description). The agent uses the connections of this user without asking for consent. Null when unknown.',
      ),
    ),
    authorityVersion: Type.Integer({
      description: 'Incremented by each of these changes. A consent is valid for one version.',
      examples: [3],
    }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
    deletedAt: Nullable(TimestampOf('Time of deletion.', null)),
  },
  { description: 'An agent: a persona that runs on a model with the tools and connectors it is allowed to use.' },
)

const optional = {
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 5_000, description: `${about} Default: none.`, ...aboutExample })),
  ),
  model: Type.Optional(
    Type.String({ description: `${modelId} Default: the default model of the server.`, ...modelExample }),
  ),
  systemPrompt: Type.Optional(
    Nullable(Type.String({ maxLength: 20_000, description: `${prompt} Default: none.`, ...promptExample })),
  ),
  avatar: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: `${picture} Default \`default\`.`, ...avatarExample }),
  ),
  allowedTools: Type.Optional(Names(tools, ['files.search', 'files.read'])),
  allowedPeers: Type.Optional(Names(peers, ['assistant'])),
  allowedConnectors: Type.Optional(Names(connectors, ['github'])),
  settings: Type.Optional(Settings),
}

const Name = Type.String({ minLength: 1, description: name, ...nameExample })

export const AgentCreate = Type.Object({ name: Name, ...optional })
export type AgentCreate = Static<typeof AgentCreate>

export const AgentPatch = Type.Object(
  {
    name: Type.Optional(Name),
    ...optional,
    settings: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Settings to change. Keys that are not sent stay as they are; null removes a key.',
        examples: [{ approvals: ['*'] }],
      }),
    ),
    slug: Type.Optional(
      Type.String({
        description:
          'Short name, 1–63 characters of `a-z`, `0-9` and single hyphens, unique within the org. Ignored for the default agent.',
        ...slugExample,
      }),
    ),
    isActive: Type.Optional(
      Type.Boolean({ description: 'Whether the agent responds. FORBIDDEN for the default agent.' }),
    ),
  },
  { examples: [{ systemPrompt: 'Write release notes for customers.', settings: { approvals: ['*'] } }] },
)
export type AgentPatch = Static<typeof AgentPatch>

export const Peer = Type.Object(
  {
    id: Id,
    slug: Type.String({ description: 'Short name, unique within the org.', examples: ['assistant'] }),
    name: Type.String({ description: 'Name of the agent.', examples: ['Atrium Assistant'] }),
    description: Nullable(Type.String({ description: about, examples: ['Answers questions about your files.'] })),
    avatar: Type.String({ description: 'Avatar identifier.', examples: ['atrium'] }),
    isActive: Type.Boolean({ description: 'Whether the agent responds.', examples: [true] }),
    canReply: Type.Boolean({ description: 'Whether it lists this agent among its own peers.', examples: [true] }),
  },
  { description: 'An agent that another agent may message.' },
)

const Rate = (of: string, example: number) =>
  Type.Integer({
    description: `Price of ${of}, in microcents for a million tokens. 10,000 microcents are one cent.`,
    examples: [example],
  })

export const Model = Type.Object(
  {
    id: Type.String({ description: 'ID of the model: `provider/model`.', ...modelExample }),
    name: Type.String({ description: 'Display name.', examples: ['Claude Sonnet 4.5'] }),
    provider: Type.String({ description: 'Name of the provider.', examples: ['anthropic'] }),
    available: Type.Boolean({ description: 'Whether agents can run on the model.', examples: [true] }),
    unavailableReason: Nullable(
      Type.String({ description: 'Why the model is not available. Null when it is.', examples: [null] }),
    ),
    free: Type.Boolean({ description: 'Whether the model costs nothing.' }),
    contextWindow: Nullable(
      Type.Integer({
        description: 'Maximum number of tokens of prompt and response together. Null when unknown.',
        examples: [200_000],
      }),
    ),
    maxOutputTokens: Nullable(
      Type.Integer({ description: 'Maximum number of tokens of a response. Null when unknown.', examples: [64_000] }),
    ),
    capabilities: Type.Object(
      {
        tools: Type.Boolean({ description: 'Whether the model can call tools.', examples: [true] }),
        vision: Type.Boolean({ description: 'Whether the model reads images.', examples: [true] }),
        reasoning: Type.Boolean({ description: 'Whether the model reasons before it responds.', examples: [true] }),
        jsonSchema: Type.Boolean({
          description:
            'Whether the provider makes the model follow a JSON schema. Other models are told to, and their replies are validated as well.',
          examples: [true],
        }),
        embeddings: Type.Boolean({
          description: 'Whether it is an embedding model: `POST /embeddings` calls it, and agents cannot use it.',
          examples: [false],
        }),
      },
      { description: 'Features of the model.' },
    ),
    input: Type.Object(
      {
        images: Type.Boolean({
          description: 'Whether the model is shown attached pictures. False when unknown.',
          examples: [true],
        }),
        pdf: Type.Boolean({
          description: 'Whether the model is shown attached PDF files. Other models get their text.',
          examples: [true],
        }),
      },
      { description: 'What the model takes besides text.' },
    ),
    pricing: Nullable(
      Type.Object(
        {
          input: Rate('input tokens', 3_000_000),
          output: Rate('output tokens', 15_000_000),
          cacheRead: Rate('tokens read from the cache', 300_000),
          cacheWrite: Rate('tokens written to the cache', 3_750_000),
        },
        { description: 'Prices. Null when unknown.' },
      ),
    ),
  },
  { description: 'A model of the catalog.' },
)
