import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { CursorQuery, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Yours, 16 KB at most; `relationship` in it is the server’s own',
})

const Participant = Type.Object({
  type: Type.Enum(['agent', 'user']),
  id: Id,
  slug: Type.Optional(Type.String()),
  name: Type.String(),
  avatar: Type.Optional(Type.String()),
})

export const SessionStatus = Type.Enum(['idle', 'running', 'requires_action'])

export const Session = Type.Object({
  id: Id,
  workspaceId: Id,
  projectId: Nullable(Id),
  title: Nullable(Type.String()),
  status: SessionStatus,
  activeTurnId: Nullable(Id),
  participants: Type.Array(Participant),
  metadata: Metadata,
  messageCount: Type.Integer(),
  lastMessageAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const title = Nullable(Type.String({ minLength: 1, maxLength: 255 }))

export const SessionCreate = Type.Object({
  agentId: Type.String({ minLength: 1, maxLength: 255, description: "The agent's UUID or its slug" }),
  title: Type.Optional(title),
  projectId: Type.Optional(Nullable(Id)),
  metadata: Type.Optional(Metadata),
})
export type SessionCreate = Static<typeof SessionCreate>

export const SessionPatch = Type.Object({
  title: Type.Optional(title),
  projectId: Type.Optional(Nullable(Id)),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Replaces the keys that it names; null removes one' }),
  ),
})
export type SessionPatch = Static<typeof SessionPatch>

export const SessionListQuery = Type.Object({
  ...CursorQuery.properties,
  agentId: Type.Optional(Type.String({ maxLength: 255, description: 'Only those in which this agent takes part' })),
  projectId: Type.Optional(Id),
})
export type SessionListQuery = Static<typeof SessionListQuery>

export const ParticipantSessionsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Unset: everything, up to 1,000 items' })),
  cursor: CursorQuery.properties.cursor,
})

const part = <Name extends string, Fields extends Record<string, TSchema>>(name: Name, fields: Fields) =>
  Type.Object({ type: Type.Literal(name), ...fields })

export const MessagePart = Type.Union([
  part('text', { text: Type.String() }),
  part('reasoning', { text: Type.String() }),
  part('tool-call', { toolCallId: Type.String(), toolName: Type.String(), input: Type.Unknown() }),
  part('tool-result', {
    toolCallId: Type.String(),
    toolName: Type.String(),
    output: Type.Unknown(),
    isError: Type.Boolean(),
  }),
  part('file', { fileId: Id, name: Type.String(), mimeType: Type.String(), sizeBytes: Type.Integer() }),
  part('error', { code: Type.String(), message: Type.String() }),
])
export type MessagePart = Static<typeof MessagePart>

const Author = Type.Object({
  type: Type.Enum(['agent', 'user']),
  id: Id,
  slug: Type.Optional(Type.String()),
  name: Type.String(),
  avatar: Type.Optional(Type.String()),
})
export type Author = Static<typeof Author>

export const Message = Type.Object({
  id: Id,
  sessionId: Id,
  turnId: Id,
  role: Type.Enum(['user', 'assistant']),
  author: Author,
  parts: Type.Array(MessagePart),
  createdAt: Timestamp,
})

export const PeerMessage = Type.Object({
  id: Id,
  sessionId: Id,
  turnId: Id,
  fromAgentId: Id,
  fromAgentSlug: Type.String(),
  fromAgentName: Type.String({ description: 'As it was when the message was written' }),
  fromAgentAvatar: Type.String(),
  isSelf: Type.Boolean({ description: 'Written by the agent that is asked about' }),
  text: Type.String(),
  parts: Type.Array(MessagePart),
  createdAt: Timestamp,
})

export const AgentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug" }),
})
