import type { Actor } from '../identity/actor.ts'
import { actorOfUser } from '../identity/sign-in/user-authority.ts'
import { inChain } from '../outbox/chain.ts'
import type { EventChain } from '../outbox/chain.ts'
import type { Db, Transaction } from '../platform/database/database.ts'
import { forbidden } from '../platform/http/errors.ts'
import { newId } from '../platform/ids.ts'
import * as queries from './queries.ts'
import { insertSession } from './sessions.ts'
import * as turnQueries from './turns/queries.ts'
import { beginTurn } from './turns/begin-turn.ts'
import type { TurnDeps } from './turns/deps.ts'

/** The agent that replies in a provider's chat, and the person on whose behalf it replies. */
export interface ConnectorAgent {
  orgId: string
  workspaceId: string
  userId: string
  agentId: string
  /** The connector endpoint that received the message. */
  endpointId: string
}

/** A message in the chat. Its sender is not a user of this server. */
export interface ConnectorMessage {
  turnId: string
  /** The session of the chat; null when there is none yet. */
  sessionId: string | null
  title: string
  sender: string
  text: string
  /** The chain of events that the turn continues. */
  chain: EventChain | undefined
}

const liveSession = async (db: Transaction, actor: Actor, workspaceId: string, id: string | null) => {
  const session = id === null ? undefined : await queries.lockSession(db, actor.orgId, id)
  return session?.workspaceId === workspaceId ? session.id : undefined
}

/**
 * Creates the turn that replies to a message from a provider's chat. `findMessage` and, for a new session, `saveSession`
 * run in the same transaction. False when `findMessage` returns no message.
 */
export const beginConnectorTurn = async (
  deps: TurnDeps,
  { orgId, workspaceId, userId, agentId, endpointId }: ConnectorAgent,
  findMessage: (db: Transaction) => Promise<ConnectorMessage | undefined>,
  saveSession: (db: Transaction, sessionId: string) => Promise<void>,
): Promise<boolean> => {
  const actor = await actorOfUser(deps.db.hot, { orgId, userId, workspaceId, scopes: [] })
  if (!actor) throw forbidden('The person who set this up is no longer a member of the workspace.')
  return deps.db.transaction(actor, async (db) => {
    const message = await findMessage(db)
    if (!message) return false
    const { turnId, title, text, sender, chain } = message
    await inChain(chain, async () => {
      let sessionId = await liveSession(db, actor, workspaceId, message.sessionId)
      if (sessionId === undefined) {
        sessionId = newId()
        const session = { id: sessionId, workspaceId, projectId: null, agentId, title, metadata: {} }
        await insertSession(db, actor, { ...session, relationship: 'connector', source: 'chat' })
        await saveSession(db, sessionId)
      }
      await beginTurn(db, deps, actor, {
        sessionId,
        parts: [{ type: 'text', text }],
        id: turnId,
        agentId,
        endpointId,
        author: { type: 'user', id: userId, name: sender },
        // The sender is not authenticated.
        untrustedFrom: 'chat',
      })
    })
    return true
  })
}

/** The text of a turn's reply, empty when the turn has no reply. Undefined until the turn has ended. */
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
