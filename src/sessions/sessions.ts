import { getAgent } from '../agents/agents.ts'
import { getProject } from '../files/files.ts'
import type { Actor } from '../identity/actor.ts'
import { workspaceOf } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { newId } from '../platform/ids.ts'
import { recordEvent, recorded } from '../outbox/record.ts'
import { sessionCreated } from './events.ts'
import * as messageQueries from './message-queries.ts'
import * as queries from './queries.ts'
import type { ChatSessionRow, NewSession } from './queries.ts'
import type { SessionCreate, SessionPatch } from './schemas.ts'
import { searchSessions } from './search/search.ts'
export { messageWords } from './search/words.ts'
import type { FoundSession } from './search/search.ts'

const maxMetadataBytes = 16_384

/** The metadata after a patch: its keys replace current ones, null removes a key. `relationship` is read-only and ignored. */
const mergeMetadata = (current: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> => {
  const kept = Object.entries({ ...current, ...change }).filter(
    ([key, value]) => key !== 'relationship' && value !== null,
  )
  const merged = Object.fromEntries(kept)
  if (Buffer.byteLength(JSON.stringify(merged)) > maxMetadataBytes) {
    throw badRequest('metadata must be at most 16 KB of JSON')
  }
  return merged
}

export const getSession = async (db: Db, actor: Actor, id: string): Promise<ChatSessionRow> => {
  const session = await queries.findSession(db, actor, workspaceOf(actor), id)
  if (!session) throw notFound('Session')
  return session
}

/** The fields of a session that its routes need. NOT_FOUND when it is not visible in the request's workspace. */
export const requireSession = async (db: Db, actor: Actor, id: string): Promise<queries.SessionKey> => {
  const session = await queries.findSessionKey(db, actor, workspaceOf(actor), id)
  if (!session) throw notFound('Session')
  return session
}

/** Stores a session with its agent and the actor as participants. */
export const insertSession = async (db: Transaction, actor: Actor, session: NewSession): Promise<void> => {
  await queries.insertSession(db, actor, session, sessionCreated(actor, session))
  db.signal(recorded, actor.orgId)
}

/** Creates a conversation between the caller and an agent. NOT_FOUND for an agent or a project that does not exist. */
export const createSession = async (db: Database, actor: Actor, body: SessionCreate): Promise<ChatSessionRow> => {
  const metadata = mergeMetadata({}, body.metadata ?? {})
  const agent = await getAgent(db, actor, body.agentId)
  const projectId = body.projectId ?? null
  if (projectId !== null) await getProject(db, actor, projectId)
  const id = newId()
  const session = {
    id,
    workspaceId: workspaceOf(actor),
    projectId,
    agentId: agent.id,
    title: body.title ?? null,
    metadata,
    source: body.isTest === true ? ('test' as const) : actor.apiKey === null ? ('console' as const) : ('api' as const),
  }
  await db.transaction(actor, (db) => insertSession(db, actor, session))
  return getSession(db, actor, id)
}

const patchFields = ['title', 'projectId', 'metadata'] as const satisfies (keyof SessionPatch)[]

export const updateSession = async (
  db: Database,
  actor: Actor,
  id: string,
  { patch, ifMatch }: { patch: SessionPatch; ifMatch: string | undefined },
): Promise<ChatSessionRow> => {
  if (patchFields.every((field) => patch[field] === undefined)) {
    throw badRequest('The body must name at least one field to change')
  }
  await requireSession(db, actor, id)
  if (patch.projectId) await getProject(db, actor, patch.projectId)
  await db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, actor.orgId, id)
    if (!session) throw notFound('Session')
    requireMatch(ifMatch, session)
    await queries.updateSession(db, actor, id, {
      title: patch.title === undefined ? session.title : patch.title,
      projectId: patch.projectId === undefined ? session.projectId : patch.projectId,
      metadata: patch.metadata === undefined ? session.metadata : mergeMetadata(session.metadata, patch.metadata),
    })
    const changed = patchFields.filter((field) => patch[field] !== undefined)
    const { workspaceId } = session
    await recordEvent(db, actor, 'session.updated', { subjectId: id, workspaceId, data: { sessionId: id, changed } })
  })
  return getSession(db, actor, id)
}

// Sorts before every row of a list that is ordered newest first.
const listStart: queries.SessionPosition = {
  updatedAt: '9999-12-31 00:00:00+00',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

interface Page {
  limit: number
  cursor?: string | undefined
}

export interface SessionListing extends Page {
  /** An id or a slug. */
  agentId?: string | undefined
  projectId?: string | undefined
  source?: queries.SessionSource | undefined
  includeTests?: boolean | undefined
  search?: string | undefined
}

/**
 * Sessions of the request's workspace, last changed first. With `search`, one page of those that it finds. NOT_FOUND for
 * an agent that does not exist.
 */
export const listSessions = async (
  db: Db,
  actor: Actor,
  { agentId, projectId, source, includeTests = true, search, limit, cursor }: SessionListing,
): Promise<{ items: (ChatSessionRow | FoundSession)[]; nextCursor: string | null }> => {
  const agent = agentId === undefined ? undefined : await getAgent(db, actor, agentId)
  const workspaceId = workspaceOf(actor)
  const filter = { projectId, source, withoutTests: !includeTests }
  if (search !== undefined) {
    const found = await searchSessions(db, actor, search, { ...filter, workspaceId, agentId: agent?.id, limit })
    return { items: found, nextCursor: null }
  }
  const [updatedAt, id] = cursor === undefined ? [] : decodeCursor(cursor, ['timestamp', 'uuid'])
  const after = updatedAt === undefined || id === undefined ? listStart : { updatedAt, id }
  const page = { ...filter, workspaceId, limit: limit + 1, after }
  const rows = agent
    ? await queries.listAgentSessions(db, actor, agent.id, page)
    : await queries.listSessions(db, actor, page)
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const more = rows.length > limit && last
  return { items, nextCursor: more ? encodeCursor([last.updatedAtExactly, last.id]) : null }
}

/** The messages of agents in an agent's sessions with its peers, newest first. */
export const listPeerMessages = async (
  db: Db,
  actor: Actor,
  agentId: string,
  { limit, cursor }: Page,
): Promise<{ items: messageQueries.PeerMessageRow[]; nextCursor: string | null }> => {
  const agent = await getAgent(db, actor, agentId)
  const [createdAt, id] = cursor === undefined ? [] : decodeCursor(cursor, ['timestamp', 'uuid'])
  const before = { createdAt: createdAt ?? listStart.updatedAt, id: id ?? listStart.id }
  const page = { workspaceId: workspaceOf(actor), limit, before }
  const { items, isMore } = await messageQueries.listPeerMessages(db, actor, agent.id, page)
  const last = items.at(-1)
  return { items, nextCursor: isMore && last ? encodeCursor([last.createdAtExactly, last.id]) : null }
}

/** Deletes a session. `endTurns` ends its unfinished turns in the same transaction. */
export const deleteSession = async (
  db: Database,
  actor: Actor,
  id: string,
  {
    ifMatch,
    endTurns,
  }: { ifMatch: string | undefined; endTurns: (db: Transaction, workspaceId: string) => Promise<void> },
): Promise<void> => {
  await requireSession(db, actor, id)
  await db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, actor.orgId, id)
    if (!session) throw notFound('Session')
    requireMatch(ifMatch, session)
    const { workspaceId, title } = session
    await endTurns(db, workspaceId)
    await queries.softDeleteSession(db, actor, id)
    await audit(db, actor, 'session.deleted', { type: 'session', id, details: { title } })
    await recordEvent(db, actor, 'session.deleted', { subjectId: id, workspaceId, data: { sessionId: id } })
  })
}
