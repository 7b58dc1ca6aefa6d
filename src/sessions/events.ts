import { systemActor } from '../identity/actor.ts'
import type { EventType } from '../outbox/catalog.ts'
import type { Expand } from '../outbox/expand.ts'
import type { OutboxRow, OutboxTemplate } from '../outbox/queries.ts'
import { outboxRow, outboxTemplate } from '../outbox/record.ts'
import type { EventAuthor } from '../outbox/record.ts'
import { maxMessageBytes } from '../outbox/types/sessions.ts'
import type { Db } from '../platform/database/database.ts'
import { firstBytes } from '../platform/text/text.ts'
import { findMessageParts } from './message-queries.ts'
import type { LockedSession, NewSession } from './queries.ts'
import type { Author, MessagePart } from './schemas.ts'
import { replyText } from './turns/reply-text.ts'
import type { EndedStatus, ErrorDetail, StopReason } from './turns/queries.ts'

// The events of sessions are recorded by the statements that make the changes, so that a turn needs no further statement.

/** What a request that starts or continues a turn can record, at the latest when the turn ends. */
export const turnEvents = [
  'message.created',
  'turn.started',
  'turn.requires_action',
  'turn.completed',
  'turn.incomplete',
  'turn.failed',
  'turn.cancelled',
] as const satisfies EventType[]

/** What a request can record that may contain decisions of a person. */
export const decisionEvents = [
  'turn.approval_decided',
  'agent.consent_given',
  ...turnEvents,
] as const satisfies EventType[]

/** The agent of a turn as the author of what the turn does. */
const agentAuthor = (orgId: string, { name }: Author): EventAuthor => systemActor(orgId, name)

export const sessionCreated = (
  author: EventAuthor,
  {
    id: sessionId,
    workspaceId,
    agentId,
    title,
    relationship = 'user',
  }: Pick<NewSession, 'id' | 'workspaceId' | 'agentId' | 'title'> & { relationship?: LockedSession['relationship'] },
): OutboxRow =>
  outboxRow(author, {
    type: 'session.created',
    subjectId: sessionId,
    workspaceId,
    data: { sessionId, agentId, title, relationship },
  })

interface EventMessage {
  id: string
  turnId: string
  role: 'user' | 'assistant'
  author: Author
  parts: MessagePart[]
}

interface EventSession {
  id: string
  workspaceId: string
}

/** `sender`: the author of a message that no agent has written. */
export const messageCreated = (sender: EventAuthor, session: EventSession, message: EventMessage): OutboxRow => {
  const { id: messageId, turnId, role, author, parts } = message
  const whole = replyText(parts)
  const text = firstBytes(whole, maxMessageBytes)
  return outboxRow(author.type === 'agent' ? agentAuthor(sender.orgId, author) : sender, {
    type: 'message.created',
    subjectId: session.id,
    workspaceId: session.workspaceId,
    data: { messageId, sessionId: session.id, turnId, role, text, isTruncated: text.length < whole.length },
  })
}

/** The whole text of the message of a `message.created`. */
export const expandMessage =
  (db: Db): Expand =>
  async (orgId, { messageId }) => {
    const message = await findMessageParts(db, orgId, messageId as string)
    return message ? { text: replyText(message.parts) } : null
  }

/** What the events of a turn say about it. */
interface EventTurn {
  id: string
  sessionId: string
  agentId: string
  /** The agent. */
  author: Author
}

interface TurnScope {
  orgId: string
  workspaceId: string
}

const turnEvent = (
  { orgId, workspaceId }: TurnScope,
  type: 'turn.started' | 'turn.requires_action',
  { id: turnId, sessionId, agentId, author }: EventTurn,
): OutboxRow =>
  outboxRow(agentAuthor(orgId, author), {
    type,
    subjectId: sessionId,
    workspaceId,
    data: { turnId, sessionId, agentId },
  })

export const turnStarted = (scope: TurnScope, turn: EventTurn): OutboxRow => turnEvent(scope, 'turn.started', turn)

export const turnPaused = (scope: TurnScope, turn: EventTurn): OutboxRow =>
  turnEvent(scope, 'turn.requires_action', turn)

/** The start of a turn of which only the id is known. Its statement has the rest, the agent's name included. */
export const turnStartedTemplate = (orgId: string): OutboxTemplate =>
  outboxTemplate(systemActor(orgId, ''), 'turn.started')

interface EventEnding {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  parts: MessagePart[]
}

const turnEnded = (
  author: EventAuthor,
  workspaceId: string,
  { id: turnId, sessionId, agentId }: EventTurn,
  { status, stopReason, error }: EventEnding,
): OutboxRow => {
  const at = { subjectId: sessionId, workspaceId }
  const data = { turnId, sessionId, agentId }
  if (status === 'failed') {
    return outboxRow(author, { ...at, type: 'turn.failed', data: { ...data, errorCode: error?.code ?? 'internal' } })
  }
  return status === 'cancelled'
    ? outboxRow(author, { ...at, type: 'turn.cancelled', data })
    : outboxRow(author, { ...at, type: `turn.${status}`, data: { ...data, stopReason } })
}

/** The reply, if there is one, and the end of a turn. `by`: who ended it, if not the agent itself. */
export const endingEvents = (
  { orgId, workspaceId, by }: TurnScope & { by?: EventAuthor | undefined },
  turn: EventTurn & { replyId: string },
  ending: EventEnding,
): OutboxRow[] => {
  const agent = agentAuthor(orgId, turn.author)
  const { parts } = ending
  const reply = { id: turn.replyId, turnId: turn.id, role: 'assistant', author: turn.author, parts } as const
  return [
    ...(parts.length > 0 ? [messageCreated(agent, { id: turn.sessionId, workspaceId }, reply)] : []),
    turnEnded(by ?? agent, workspaceId, turn, ending),
  ]
}
