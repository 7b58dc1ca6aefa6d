import { findAgent, listAgents } from '../../agents/agents.ts'
import type { AgentRow } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { getAnswer } from '../../sessions/turns/receipt.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import * as sessionQueries from '../../sessions/queries.ts'
import type { Author } from '../../sessions/schemas.ts'
import { beginTurn, partsToSay } from '../../sessions/turns/turns.ts'
import type { TurnDeps, TurnOptions } from '../../sessions/turns/turns.ts'
import type { StopReason } from '../../sessions/turns/queries.ts'
import type { ChatCompletion, ChatModel, ChatUsage } from './schemas.ts'
import * as queries from './conversation-queries.ts'
import type { PastMessage } from './conversation-queries.ts'
import { digestOf } from './conversation.ts'
import type { Conversation, Said } from './conversation.ts'
import { failureOf, noSuchModel } from './failures.ts'

const modelPrefix = 'agent/'

const unixSeconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000)

const toModel = ({ slug, createdAt }: AgentRow): ChatModel => ({
  id: `${modelPrefix}${slug}`,
  object: 'model',
  created: unixSeconds(createdAt),
  owned_by: 'atrium',
})

/** The agent that a model's name stands for, `agent/<slug>` or `agent/<id>`. */
export const agentOfModel = async (db: Db, actor: Actor, model: string): Promise<AgentRow> => {
  const name = model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : ''
  const agent = name === '' ? undefined : await findAgent(db, actor, name)
  if (!agent) throw noSuchModel()
  return agent
}

export const getChatModel = async (db: Db, actor: Actor, model: string): Promise<ChatModel> => {
  const agent = await agentOfModel(db, actor, model)
  if (!agent.isActive) throw noSuchModel()
  return toModel(agent)
}

/** The agents that would answer: those that are active. */
export const listChatModels = async (db: Db, actor: Actor): Promise<ChatModel[]> => {
  const { items } = await listAgents(db, actor, {})
  return items.filter(({ isActive }) => isActive).map(toModel)
}

interface Continued {
  sessionId: string
  number: number
}

/**
 * The session in which all of the history was said: its last turn was asked with the same words up to the last reply,
 * and that reply is ours.
 */
const findContinued = async (
  db: Db,
  actor: Actor,
  agent: AgentRow,
  whose: string[],
  history: Said[],
): Promise<Continued | undefined> => {
  const last = history.at(-1)
  if (last?.role !== 'assistant') return undefined
  const digest = digestOf(whose, history.slice(0, -1))
  const answered = await queries.findAnswered(db, actor, workspaceOf(actor), agent.id, digest)
  return answered.find(({ parts }) => replyText(parts).trim() === last.text.trim())
}

/** What was said before, for a session that does not have it yet. */
const toPast = async (db: Database, actor: Actor, agent: AgentRow, history: Said[]): Promise<PastMessage[]> => {
  const { id, slug, name, avatar } = agent
  const byAgent: Author = { type: 'agent', id, slug, name, avatar }
  const byUser: Author = { type: 'user', id: actor.userId, name: actor.userName }
  let turnNumber = 0
  // An exchange begins with what the person says; a greeting of the agent before that is one of its own.
  const numbers = history.map(({ role }) => (role === 'user' || turnNumber === 0 ? ++turnNumber : turnNumber))
  return Promise.all(
    history.map(async (said, place) => ({
      id: newId(),
      position: place + 1,
      turnNumber: numbers[place] ?? 1,
      role: said.role,
      author: said.role === 'user' ? byUser : byAgent,
      parts: await partsToSay(db, actor, said),
    })),
  )
}

export interface BegunChat {
  turnId: string
  sessionId: string
}

/**
 * Begins a turn that answers a conversation: in the session that has it already, or in a new one that is given it. All
 * in one transaction.
 */
export const beginChat = async (
  deps: TurnDeps,
  actor: Actor,
  agent: AgentRow,
  { instructions, history, said }: Conversation,
  maxOutputTokens: number | null,
): Promise<BegunChat> => {
  const { db } = deps
  const workspaceId = workspaceOf(actor)
  const whose = [actor.userId, workspaceId, agent.id]
  const [parts, found] = await Promise.all([
    partsToSay(db, actor, said),
    findContinued(db, actor, agent, whose, history),
  ])
  const past = found ? [] : await toPast(db, actor, agent, history)
  const options: TurnOptions = { instructions, maxOutputTokens, callerDigest: digestOf(whose, [...history, said]) }

  const begun = await db.transaction(actor, async (db) => {
    if (found) {
      const session = await sessionQueries.lockSession(db, actor.orgId, found.sessionId)
      // Somebody else went on from there in the meantime: what they say is no part of this conversation.
      if (session?.turnCount !== found.number || session.activeTurnId !== null) return undefined
      const turnId = await beginTurn(db, deps, actor, session.id, parts, options)
      return { turnId, sessionId: session.id }
    }
    const [id, turnId] = [newId(), newId()]
    const session = { id, workspaceId, projectId: null, agentId: agent.id, title: null, metadata: {} }
    await sessionQueries.insertSession(db, actor, session)
    if (past.length > 0) await queries.insertPast(db, actor.orgId, id, turnId, past)
    await beginTurn(db, deps, actor, id, parts, { ...options, id: turnId })
    return { turnId, sessionId: id }
  })
  return begun ?? beginChat(deps, actor, agent, { instructions, history, said }, maxOutputTokens)
}

const finishReasons: Partial<Record<StopReason, ChatCompletion['choices'][0]['finish_reason']>> = {
  stop: 'stop',
  content_filter: 'content_filter',
}

export interface Completion {
  text: string
  /** `length` for everything that was cut short: by tokens, time, steps, cost, or in the provider. */
  finishReason: ChatCompletion['choices'][0]['finish_reason']
  usage: ChatUsage
  createdAt: string
}

/** The reply of a turn at rest. Throws a ChatError when there is none to give. */
export const getCompletion = async (db: Db, actor: Actor, turnId: string): Promise<Completion | undefined> => {
  const answer = await getAnswer(db, actor, turnId)
  const { turn } = answer
  const failure = failureOf(turn)
  if (failure) throw failure
  if (!('message' in answer) || turn.stopReason === null) return undefined
  const { inputTokens, outputTokens, totalTokens, cacheReadTokens } = turn.usage
  return {
    text: replyText(answer.message?.parts ?? []),
    finishReason: finishReasons[turn.stopReason] ?? 'length',
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: totalTokens,
      prompt_tokens_details: { cached_tokens: cacheReadTokens },
    },
    createdAt: turn.createdAt,
  }
}

export const toChatCompletion = (
  turnId: string,
  model: string,
  { text, finishReason, usage, createdAt }: Completion,
): ChatCompletion => ({
  id: chatId(turnId),
  object: 'chat.completion',
  created: unixSeconds(createdAt),
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text, refusal: null },
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  usage,
})

export const chatId = (turnId: string): string => `chatcmpl-${turnId}`
