import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import {
  CreatedAt,
  CursorQuery,
  Id,
  IdOf,
  Nullable,
  TimestampOf,
  UpdatedAt,
  WholeListQuery,
} from '../platform/http/schemas.ts'

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored.',
  examples: [{ ticket: 'ENG-482' }],
})

const AgentSlug = Type.Optional(
  Type.String({ description: 'Slug of the agent. Absent for users.', examples: ['release-notes'] }),
)
const AgentAvatar = Type.Optional(
  Type.String({ description: 'Avatar identifier of the agent. Absent for users.', examples: ['default'] }),
)

const Participant = Type.Object(
  {
    type: Type.Enum(['agent', 'user'], { description: 'Whether the participant is an agent or a user.' }),
    id: IdOf('ID of the agent or user.'),
    slug: AgentSlug,
    name: Type.String({ description: 'Name of the participant.', examples: ['Release notes'] }),
    avatar: AgentAvatar,
  },
  { description: 'A participant of the session.' },
)

export const SessionStatus = Type.Enum(['idle', 'running', 'requires_action'], {
  description:
    '`idle`: no turn is running. `running`: a turn is running. `requires_action`: the running turn waits for a decision or for outputs of tools of the caller.',
})

const SessionSource = Type.Enum(['console', 'api', 'test', 'openai', 'mcp', 'a2a', 'chat', 'agent'], {
  description:
    'How the session was created. `console`: by a person in the console. `api`: by `POST /sessions` with an API key. `test`: as a test of the agent. `openai`, `mcp`, `a2a`: by that protocol. `chat`: by a chat of a connection, such as Slack. `agent`: by an agent that wrote to another.',
  examples: ['console'],
})

const sessionTitle = {
  description: 'Title, 1–255 characters. Null until the first message, whose first line becomes the title.',
  examples: ['Release notes for 2.4'],
}

export const Session = Type.Object(
  {
    id: Id,
    workspaceId: IdOf('ID of the workspace.'),
    projectId: Nullable(
      Type.String({
        format: 'uuid',
        description: 'ID of the project that the agent works in. Null without one.',
        examples: [null],
      }),
    ),
    title: Nullable(Type.String(sessionTitle)),
    source: Nullable(
      SessionSource,
      'How the session was created: `console`, `api`, `test`, `openai`, `mcp`, `a2a`, `chat` or `agent`. Null for sessions of people that were created before this was recorded.',
    ),
    status: SessionStatus,
    activeTurnId: Nullable(
      Type.String({ format: 'uuid', description: 'ID of the running turn. Null without one.', examples: [null] }),
    ),
    participants: Type.Array(Participant, { description: 'Agents and users that take part.' }),
    metadata: Metadata,
    messageCount: Type.Integer({ description: 'Number of messages.', examples: [2] }),
    lastMessageAt: Nullable(TimestampOf('Time of the last message. Null before the first.')),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'A conversation with an agent.' },
)

export const ListedSession = Type.Object(
  {
    ...Session.properties,
    match: Type.Optional(
      Nullable(
        Type.Object({
          messageId: IdOf('ID of the message.'),
          role: Type.Enum(['user', 'assistant'], { description: 'Who wrote it: `user` or `assistant`.' }),
          excerpt: Type.String({
            description: 'The part of its text around a word of the search, on one line, at most 162 characters.',
            examples: ['…Revenue rose by 8 % in the third quarter.'],
          }),
        }),
        'Only with `search`: the newest message that matches. Null when only the title does.',
      ),
    ),
  },
  { description: 'A conversation with an agent.' },
)

const title = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 255,
    ...sessionTitle,
    description: 'Title, 1–255 characters. Default, also for null: the first line of the first message.',
  }),
)

export const SessionCreate = Type.Object({
  agentId: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "The agent's UUID or its slug, at most 255 characters.",
    examples: ['release-notes'],
  }),
  title: Type.Optional(title),
  projectId: Type.Optional(
    Nullable(
      IdOf('ID of a project. The agent reads its instructions and works in its folder. Default, also for null: none.'),
    ),
  ),
  metadata: Type.Optional(Metadata),
  isTest: Type.Optional(
    Type.Boolean({ description: 'Whether the session is a test of the agent: its `source` is `test`. Default false.' }),
  ),
})
export type SessionCreate = Static<typeof SessionCreate>

export const SessionPatch = Type.Object({
  title: Type.Optional(title),
  projectId: Type.Optional(Nullable(IdOf('ID of a project. Null removes the session from its project.'))),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Metadata to change. Keys that are not sent stay as they are; null removes a key.',
      examples: [{ ticket: 'ENG-483' }],
    }),
  ),
})
export type SessionPatch = Static<typeof SessionPatch>

export const SessionListQuery = Type.Object({
  ...CursorQuery.properties,
  agentId: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Return only sessions in which this agent takes part: UUID or slug, at most 255 characters.',
    }),
  ),
  projectId: Type.Optional(IdOf('Return only sessions of this project.')),
  source: Type.Optional(
    Type.Unsafe<Static<typeof SessionSource>>({
      ...SessionSource,
      description: 'Return only sessions that were created in this way, see `source` of a session.',
    }),
  ),
  includeTests: Type.Optional(
    Type.Boolean({ description: 'Whether to return sessions whose `source` is `test`. Default true.' }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Return only sessions with a title or a message that contains words with these beginnings, 1–200 characters. All of the first 8 words must be in the title or in one message, of which the first 500 different words are searched. Returns one page without `nextCursor`, and `match` for each session.',
      examples: ['quarterly revenue'],
    }),
  ),
})
export type SessionListQuery = Static<typeof SessionListQuery>

export const ParticipantSessionsQuery = WholeListQuery

const part = <Name extends string, Fields extends Record<string, TSchema>>(
  name: Name,
  description: string,
  fields: Fields,
) => Type.Object({ type: Type.Literal(name, { description: 'Type of the part.' }), ...fields }, { description })

const toolCallId = Type.String({ description: 'ID of the tool call, unique within the turn.', examples: ['a5pe2oxve'] })
const toolName = Type.String({ description: 'Name of the tool.', examples: ['files.read'] })

export const MessagePart = Type.Union(
  [
    part('text', 'Text.', {
      text: Type.String({ description: 'The text.', examples: ['Revenue rose by 8 % in the third quarter.'] }),
    }),
    part('reasoning', 'Reasoning of the model.', { text: Type.String({ description: 'The reasoning.' }) }),
    part('tool-call', 'A tool call of the model.', {
      toolCallId,
      toolName,
      input: Type.Unknown({ description: 'Arguments of the call.' }),
    }),
    part('tool-result', 'The result of a tool call.', {
      toolCallId,
      toolName,
      output: Type.Unknown({ description: 'Result of the call.' }),
      isError: Type.Boolean({ description: 'Whether the call failed.' }),
    }),
    part('file', 'A file that is attached.', {
      fileId: IdOf('ID of the file.'),
      name: Type.String({ description: 'Name of the file.' }),
      mimeType: Type.String({ description: 'Media type of the file.' }),
      sizeBytes: Type.Integer({ description: 'Size in bytes.' }),
    }),
    part('error', 'Why the turn failed.', {
      code: Type.String({ description: 'Error code.' }),
      message: Type.String({ description: 'Explanation for people.' }),
    }),
  ],
  { description: 'A part of a message, by `type`.' },
)
export type MessagePart = Static<typeof MessagePart>

const Author = Type.Object(
  {
    type: Type.Enum(['agent', 'user'], { description: 'Whether the author is an agent or a user.' }),
    id: IdOf('ID of the agent or user.'),
    slug: AgentSlug,
    name: Type.String({ description: 'Name of the author.', examples: ['Release notes'] }),
    avatar: AgentAvatar,
  },
  { description: 'The author of the message.' },
)
export type Author = Static<typeof Author>

const parts = Type.Array(MessagePart, { description: 'Parts of the message, in order.' })

export const Message = Type.Object(
  {
    id: Id,
    sessionId: IdOf('ID of the session.'),
    turnId: IdOf('ID of the turn.'),
    role: Type.Enum(['user', 'assistant'], {
      description: '`user`: the request. `assistant`: the reply of the agent.',
      examples: ['assistant'],
    }),
    author: Author,
    parts,
    versions: Type.Optional(
      Type.Array(Id, {
        description:
          'IDs of all versions of the message, oldest first, with its own. Only in lists of the messages of a session, and only for a message with several versions; see `replaces`.',
        examples: [[]],
      }),
    ),
    createdAt: CreatedAt,
  },
  { description: 'A message of a session.' },
)

export const MessageListQuery = Type.Object({
  ...CursorQuery.properties,
  branch: Type.Enum(['active', 'all'], {
    default: 'active',
    description:
      '`active`: the conversation as the agent sees it. `all`: also messages that were replaced, and what follows them. Default `active`.',
  }),
})

export const BranchSwitch = Type.Object({
  messageId: IdOf('ID of a message of this session that started a turn, such as an item of `versions`.'),
})

export const PeerMessage = Type.Object(
  {
    id: Id,
    sessionId: IdOf('ID of the session.'),
    turnId: IdOf('ID of the turn.'),
    fromAgentId: IdOf('ID of the agent that wrote the message.'),
    fromAgentSlug: Type.String({ description: 'Slug of that agent.', examples: ['release-notes'] }),
    fromAgentName: Type.String({
      description: 'Name of that agent when the message was written.',
      examples: ['Release notes'],
    }),
    fromAgentAvatar: Type.String({ description: 'Avatar identifier of that agent.', examples: ['default'] }),
    isSelf: Type.Boolean({ description: 'Whether the agent in the path wrote the message.', examples: [true] }),
    text: Type.String({
      description: 'Text of the message.',
      examples: ['Revenue rose by 8 % in the third quarter.'],
    }),
    parts,
    createdAt: CreatedAt,
  },
  { description: 'A message between agents.' },
)

export const AgentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug." }),
})
