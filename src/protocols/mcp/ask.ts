import { createHash } from 'node:crypto'
import { defaultAgentSlug, getAgent } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { insertSession } from '../../sessions/sessions.ts'
import { getTurnWithReply } from '../../sessions/turns/turn-details.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { beginTurn, toMessageParts } from '../../sessions/turns/begin-turn.ts'
import type { TurnDeps } from '../../sessions/turns/deps.ts'
import { cancelTurn } from '../../sessions/turns/turns.ts'
import type { RpcId } from './rpc.ts'
import { listUnfinishedTurns } from './queries.ts'

export interface AskInput {
  agent?: string
  text: string
  sessionId?: string
}

/** Identifies the turn of a request, so that a later `notifications/cancelled` can cancel it on any process. */
export const digestOfRequest = (actor: Actor, session: string, id: RpcId): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['mcp', actor.userId, actor.apiKey?.id ?? null, session, id]))
    .digest()

/** Creates a turn from the input, in the given session or in a new one, in one transaction. Returns the turn's id. */
export const startAsk = async (
  deps: TurnDeps,
  actor: Actor,
  { agent: named, text, sessionId }: AskInput,
  callerDigest: Buffer | null,
): Promise<string> => {
  const { db } = deps
  if (text.trim() === '') throw badRequest('text must not be empty')
  const parts = await toMessageParts(db, actor, { text, fileIds: [] })
  return db.transaction(actor, async (db) => {
    const turn = { parts, agentId: named, callerDigest }
    if (sessionId !== undefined) return beginTurn(db, deps, actor, { ...turn, sessionId })
    const agent = await getAgent(db, actor, named ?? defaultAgentSlug)
    const session = { id: newId(), workspaceId: workspaceOf(actor), projectId: null, agentId: agent.id }
    await insertSession(db, actor, { ...session, title: null, metadata: {}, source: 'mcp' })
    return beginTurn(db, deps, actor, { ...turn, sessionId: session.id })
  })
}

/** Cancels the turns of a request, whichever process runs them. */
export const cancelAsk = async (deps: TurnDeps, actor: Actor, digest: Buffer): Promise<void> => {
  for (const { id } of await listUnfinishedTurns(deps.db, actor, digest)) await cancelTurn(deps, actor, id)
}

export interface AskResult {
  reply: string
  sessionId: string
  turnId: string
  status: string
  stopReason: string | null
  /** Why the reply is missing or incomplete. */
  note?: string
  isError: boolean
}

const noteOf = (status: string, stopReason: string | null): string | undefined => {
  if (status === 'incomplete')
    return `The reply is incomplete (${stopReason}). Ask again with the same sessionId to continue.`
  if (status === 'cancelled') return 'The turn was cancelled.'
  if (status === 'requires_action') {
    return 'The turn waits for a person to approve a tool call in its session.'
  }
  if (status === 'queued' || status === 'running') return 'The turn is still in progress.'
  return undefined
}

export const getAskResult = async (db: Db, actor: Actor, turnId: string): Promise<AskResult> => {
  const result = await getTurnWithReply(db, actor, turnId)
  const { sessionId, status, stopReason, error } = result.turn
  const note = error?.message ?? noteOf(status, stopReason)
  return {
    reply: 'message' in result ? replyText(result.message?.parts ?? []) : '',
    sessionId,
    turnId,
    status,
    stopReason,
    ...(note === undefined ? {} : { note }),
    isError: status !== 'completed' && status !== 'incomplete',
  }
}
