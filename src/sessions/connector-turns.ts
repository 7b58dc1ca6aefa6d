import type { Actor } from '../identity/actor.ts'
import { actorOfUser } from '../identity/sign-in/user-authority.ts'
import type { Db, Transaction } from '../platform/database/database.ts'
import { forbidden } from '../platform/http/errors.ts'
import { newId } from '../platform/ids.ts'
import * as queries from './queries.ts'
import * as turnQueries from './turns/queries.ts'
import { beginTurn } from './turns/begin-turn.ts'
import type { TurnDeps } from './turns/deps.ts'

/** Which agent is to answer in a chat of a provider, and in whose name. */
export interface ConnectorAnswering {
  orgId: string
  workspaceId: string
  userId: string
  agentId: string
}

/** What somebody who is no user of ours said there. */
export interface ConnectorMessage {
  turnId: string
  /** The session of the chat so far. */
  sessionId: string | null
  title: string
  sender: string
  text: string
}

const liveSession = async (db: Transaction, actor: Actor, workspaceId: string, id: string | null) => {
  const session = id === null ? undefined : await queries.lockSession(db, actor.orgId, id)
  return session?.workspaceId === workspaceId ? session.id : undefined
}

/**
 * Begins the turn that answers a message from a provider's chat, in one transaction with what `hear` does to find it and
 * `keep` to remember the chat's session, when that is a new one. False when `hear` finds nothing to answer.
 */
export const beginConnectorTurn = async (
  deps: TurnDeps,
  { orgId, workspaceId, userId, agentId }: ConnectorAnswering,
  hear: (db: Transaction) => Promise<ConnectorMessage | undefined>,
  keep: (db: Transaction, sessionId: string) => Promise<void>,
): Promise<boolean> => {
  const actor = await actorOfUser(deps.db.hot, { orgId, userId, workspaceId, scopes: [] })
  if (!actor) throw forbidden('Whoever set this up is no longer a member of the workspace.')
  return deps.db.transaction(actor, async (db) => {
    const message = await hear(db)
    if (!message) return false
    const { turnId, title, text, sender } = message
    let sessionId = await liveSession(db, actor, workspaceId, message.sessionId)
    if (sessionId === undefined) {
      sessionId = newId()
      const session = { id: sessionId, workspaceId, projectId: null, agentId, title, metadata: {} }
      await queries.insertSession(db, actor, { ...session, relationship: 'connector' })
      await keep(db, sessionId)
    }
    await beginTurn(db, deps, actor, {
      sessionId,
      parts: [{ type: 'text', text }],
      id: turnId,
      agentId,
      author: { type: 'user', id: userId, name: sender },
      // Anybody can write there.
      untrustedFrom: 'chat',
    })
    return true
  })
}

/** What a turn said in the end, nothing when it failed. Undefined while it has not ended. */
export const findConnectorReply = async (
  db: Db,
  orgId: string,
  turnId: string,
): Promise<{ text: string } | undefined> => {
  const row = await turnQueries.findReply(db, orgId, turnId)
  if (!row || row.endedAt === null) return undefined
  const texts = (row.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { text: texts.join('\n\n') }
}
