import { createHash } from 'node:crypto'
import { defaultAgentSlug, getAgent } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import * as sessionQueries from '../../sessions/queries.ts'
import { getAnswer } from '../../sessions/turns/receipt.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { beginTurn, cancelTurn, partsToSay } from '../../sessions/turns/turns.ts'
import type { TurnDeps } from '../../sessions/turns/turns.ts'
import type { RpcId } from './rpc.ts'
import { listAsked } from './ask-queries.ts'

export interface Question {
  agent?: string
  text: string
  sessionId?: string
}

/** What finds the turn of a request again when the client, by another request, takes it back. */
export const digestOfRequest = (actor: Actor, session: string, id: RpcId): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['mcp', actor.userId, actor.apiKey?.id ?? null, session, id]))
    .digest()

/** Begins a turn about a question, in a session that is there or in a new one, in one transaction. */
export const beginAsking = async (
  deps: TurnDeps,
  actor: Actor,
  { agent: named, text, sessionId }: Question,
  callerDigest: Buffer | null,
): Promise<string> => {
  const { db } = deps
  if (text.trim() === '') throw badRequest('text must not be empty')
  const parts = await partsToSay(db, actor, { text, fileIds: [] })
  return db.transaction(actor, async (db) => {
    const options = { agentId: named, callerDigest }
    if (sessionId !== undefined) return beginTurn(db, deps, actor, sessionId, parts, options)
    const agent = await getAgent(db, actor, named ?? defaultAgentSlug)
    const session = { id: newId(), workspaceId: workspaceOf(actor), projectId: null, agentId: agent.id }
    await sessionQueries.insertSession(db, actor, { ...session, title: null, metadata: {} })
    return beginTurn(db, deps, actor, session.id, parts, options)
  })
}

/** Cancels what a request began, on whatever process it runs. Nothing happens when there is nothing to cancel. */
export const cancelAsking = async (deps: TurnDeps, actor: Actor, digest: Buffer): Promise<void> => {
  for (const { id } of await listAsked(deps.db, actor, digest)) await cancelTurn(deps, actor, id)
}

export interface Asked {
  reply: string
  sessionId: string
  turnId: string
  status: string
  stopReason: string | null
  /** Why there is no reply, or not all of it. */
  note?: string
  isError: boolean
}

const noteOf = (status: string, stopReason: string | null): string | undefined => {
  if (status === 'incomplete') return `The answer is cut short (${stopReason}). Ask in the same session to go on.`
  if (status === 'cancelled') return 'The turn was cancelled.'
  if (status === 'requires_action') {
    return 'A person has to decide about a tool before the turn goes on, in the session itself.'
  }
  if (status === 'queued' || status === 'running') return 'The turn goes on and has not answered yet.'
  return undefined
}

/** How far a turn has come. */
export const readAnswer = async (db: Db, actor: Actor, turnId: string): Promise<Asked> => {
  const answer = await getAnswer(db, actor, turnId)
  const { sessionId, status, stopReason, error } = answer.turn
  const note = error?.message ?? noteOf(status, stopReason)
  return {
    reply: 'message' in answer ? replyText(answer.message?.parts ?? []) : '',
    sessionId,
    turnId,
    status,
    stopReason,
    ...(note === undefined ? {} : { note }),
    isError: status !== 'completed' && status !== 'incomplete',
  }
}
