import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import { recordEvent } from '../../outbox/record.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { conflict, forbidden, notFound, validationError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import * as sessionQueries from '../queries.ts'
import type { SessionForTurn } from '../queries.ts'
import type { MessageRow } from '../message-queries.ts'
import type { MessagePart } from '../schemas.ts'
import { findLastTurn } from '../turns/queries.ts'
import * as queries from './queries.ts'
import { countRanges, skipFrom } from './skipped.ts'
import type { Skipped } from './skipped.ts'

/** The message that a new one replaces. */
export interface Replaced extends queries.TurnOfMessage {
  /** The same message is sent again. */
  isRetry: boolean
}

const maxVersions = 50
/** Each branch point costs a few bytes in every later turn of the session. */
const maxRanges = 100

/** VALIDATION_ERROR for a message that cannot be replaced, FORBIDDEN for one of another person. */
export const getReplaced = async (
  db: Db,
  actor: Actor,
  { sessionId, messageId, isRetry }: { sessionId: string; messageId: string; isRetry: boolean },
): Promise<Replaced> => {
  const session = await sessionQueries.findSessionKey(db, actor, workspaceOf(actor), sessionId)
  if (!session) throw notFound('Session')
  const turn = await queries.findTurnOfMessage(db, actor.orgId, sessionId, messageId)
  if (!turn) throw validationError('replaces must be the ID of a message of this session that started a turn.')
  if (turn.author.type !== 'user' || turn.author.id !== actor.userId) {
    throw forbidden('A message can be replaced by its author only.')
  }
  if (turn.versions + 1 >= maxVersions) {
    throw validationError(`A message can have at most ${maxVersions} versions. Send a new message instead.`)
  }
  return { ...turn, isRetry }
}

const textOf = (parts: readonly MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

/**
 * The message that `useChat` sends again: the one before the reply with this id, or the last one of the session. An id that
 * the client made itself is that of a reply that the server does not know, so that only the last message can be meant.
 * VALIDATION_ERROR when the session has no message, or the last one is another.
 */
export const getRegenerated = async (
  db: Db,
  actor: Actor,
  { sessionId, replyId, text }: { sessionId: string; replyId: string | null; text: string },
): Promise<Replaced> => {
  const { orgId } = actor
  const ofReply =
    replyId !== null && isUuid(replyId) ? await queries.findTurnOfReply(db, orgId, sessionId, replyId) : undefined
  const turn = ofReply ?? (await findLastTurn(db, orgId, sessionId))
  const message = turn && (await queries.findMessageOfTurn(db, orgId, sessionId, turn.number))
  const isSame = message !== undefined && textOf(message.parts).trim() === text.trim()
  if (!message || (replyId !== null && !ofReply && !isSame)) {
    throw validationError('messageId must be the ID of a reply of this session.')
  }
  return getReplaced(db, actor, { sessionId, messageId: message.id, isRetry: isSame })
}

/** What a turn skips that replaces a message, or follows the others of its session. */
export const skippedBy = (session: SessionForTurn, replaced: Replaced | undefined): Skipped | null => {
  if (!replaced) return session.skipped
  if (session.relationship !== 'user') {
    throw validationError('Messages of agents and of connected chats cannot be replaced.')
  }
  const skipped = skipFrom(replaced.skipped, replaced.number, session.turnCount + 1)
  if (countRanges(skipped) > maxRanges) {
    throw validationError('This conversation has too many branches. Start a new one.')
  }
  return skipped
}

/**
 * Continues a session from the newest branch that contains a message. CONFLICT while a turn is running, because the end
 * of its reply would not be part of that branch.
 */
export const switchBranch = async (db: Database, actor: Actor, sessionId: string, messageId: string): Promise<void> => {
  const { orgId } = actor
  const workspaceId = workspaceOf(actor)
  await db.transaction(actor, async (db) => {
    const session = await sessionQueries.lockSession(db, orgId, sessionId)
    if (session?.workspaceId !== workspaceId) throw notFound('Session')
    const turn = await queries.findTurnOfMessage(db, orgId, sessionId, messageId)
    if (!turn) throw validationError('messageId must be the ID of a message of this session that started a turn.')
    if (session.activeTurnId !== null) throw conflict('A turn of this session is in progress.')
    const last = await queries.findLastOfBranch(db, orgId, sessionId, turn.number)
    if (!last) return
    const skipped = skipFrom(last.skipped, last.number + 1, session.turnCount + 1)
    if (skipped === session.skipped) return
    await queries.setSkipped(db, orgId, sessionId, skipped)
    const data = { sessionId, changed: ['branch'] }
    await recordEvent(db, actor, 'session.updated', { subjectId: sessionId, workspaceId, data })
  })
}

/** Adds to each message of a person the ids of its versions, if there are several. */
export const withVersions = async (
  db: Db,
  orgId: string,
  sessionId: string,
  messages: readonly MessageRow[],
): Promise<(MessageRow & { versions?: string[] })[]> => {
  const numbers = new Set(messages.filter(({ role }) => role === 'user').map(({ turnNumber }) => turnNumber))
  const versions = await queries.listVersions(db, orgId, sessionId, [...numbers])
  const byFirst = Map.groupBy(versions, ({ firstVersion }) => firstVersion)
  const ofMessage = new Map<string, string[]>()
  for (const group of byFirst.values()) {
    const ids = group.map(({ messageId }) => messageId)
    if (ids.length > 1) for (const id of ids) ofMessage.set(id, ids)
  }
  return messages.map((message) => {
    const ids = ofMessage.get(message.id)
    return ids ? { ...message, versions: ids } : message
  })
}
