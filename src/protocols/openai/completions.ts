import { findAgent, listAgents } from '../../agents/agents.ts'
import type { AgentRow } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { getTurnWithReply } from '../../sessions/turns/turn-details.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { messageCreated } from '../../sessions/events.ts'
import * as sessionQueries from '../../sessions/queries.ts'
import { insertSession } from '../../sessions/sessions.ts'
import type { Author } from '../../sessions/schemas.ts'
import { beginTurn, toMessageParts } from '../../sessions/turns/begin-turn.ts'
import type { TurnDeps } from '../../sessions/turns/deps.ts'
import type { StopReason } from '../../sessions/turns/queries.ts'
import type { ChatCompletion, ChatModel, ChatUsage } from './schemas.ts'
import * as queries from './queries.ts'
import type { ImportedMessage } from './queries.ts'
import { conversationDigest } from './conversation.ts'
import type { Conversation, ConversationMessage } from './conversation.ts'
import { turnFailure, modelNotFound } from './errors.ts'

const modelPrefix = 'agent/'

const unixSeconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000)

const toModel = ({ slug, createdAt }: AgentRow): ChatModel => ({
  id: `${modelPrefix}${slug}`,
  object: 'model',
  created: unixSeconds(createdAt),
  owned_by: 'atrium',
})

/** The agent of a model name, `agent/<slug>` or `agent/<id>`. */
export const agentOfModel = async (db: Db, actor: Actor, model: string): Promise<AgentRow> => {
  const name = model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : ''
  const agent = name === '' ? undefined : await findAgent(db, actor, name)
  if (!agent) throw modelNotFound()
  return agent
}

export const getChatModel = async (db: Db, actor: Actor, model: string): Promise<ChatModel> => {
  const agent = await agentOfModel(db, actor, model)
  if (!agent.isActive) throw modelNotFound()
  return toModel(agent)
}

/** The active agents as models. */
export const listChatModels = async (db: Db, actor: Actor): Promise<ChatModel[]> => {
  const { items } = await listAgents(db, actor, {})
  return items.filter(({ isActive }) => isActive).map(toModel)
}

/** The people, workspace and agent to which a conversation belongs. */
const ownerOf = (actor: Actor, agent: AgentRow): string[] => [actor.userId, workspaceOf(actor), agent.id]

/** The last turn of the session whose messages equal the history, including the reply. */
const findContinuedTurn = async (
  db: Db,
  actor: Actor,
  agent: AgentRow,
  history: ConversationMessage[],
): Promise<queries.RepliedTurn | undefined> => {
  const last = history.at(-1)
  if (last?.role !== 'assistant') return undefined
  const digest = conversationDigest(ownerOf(actor, agent), history.slice(0, -1))
  const workspaceId = workspaceOf(actor)
  const replied = await queries.listRepliedTurns(db, actor, { workspaceId, agentId: agent.id, digest })
  return replied.find(({ parts }) => replyText(parts).trim() === last.text.trim())
}

/** The history as messages of a new session. */
const toImportedMessages = async (
  db: Database,
  actor: Actor,
  agent: AgentRow,
  history: ConversationMessage[],
): Promise<ImportedMessage[]> => {
  const { id, slug, name, avatar } = agent
  const byAgent: Author = { type: 'agent', id, slug, name, avatar }
  const byUser: Author = { type: 'user', id: actor.userId, name: actor.userName }
  let turnNumber = 0
  // An exchange begins with a user's message; an assistant's greeting before the first one is a separate exchange.
  const numbers = history.map(({ role }) => (role === 'user' || turnNumber === 0 ? ++turnNumber : turnNumber))
  return Promise.all(
    history.map(async (message, place) => ({
      id: newId(),
      position: place + 1,
      turnNumber: numbers[place] ?? 1,
      role: message.role,
      author: message.role === 'user' ? byUser : byAgent,
      parts: await toMessageParts(db, actor, message),
    })),
  )
}

export interface BegunChat {
  turnId: string
  sessionId: string
}

export interface ChatRequest {
  agent: AgentRow
  conversation: Conversation
  maxOutputTokens: number | null
}

/**
 * Creates the turn that replies to a conversation: in the session that already contains its history, or in a new session
 * that imports the history. Session, messages, turn and job are stored in one transaction.
 */
export const beginChat = async (deps: TurnDeps, actor: Actor, request: ChatRequest): Promise<BegunChat> => {
  const { db } = deps
  const { agent, conversation, maxOutputTokens } = request
  const { instructions, history, newMessage } = conversation
  const workspaceId = workspaceOf(actor)
  const [parts, continued] = await Promise.all([
    toMessageParts(db, actor, newMessage),
    findContinuedTurn(db, actor, agent, history),
  ])
  const imported = continued ? [] : await toImportedMessages(db, actor, agent, history)
  const callerDigest = conversationDigest(ownerOf(actor, agent), [...history, newMessage])
  const turn = { parts, instructions, maxOutputTokens, callerDigest }

  const begun = await db.transaction(actor, async (db) => {
    if (continued) {
      const session = await sessionQueries.lockSession(db, actor.orgId, continued.sessionId)
      // Another request has added a turn in the meantime, which is not part of this conversation.
      if (session?.turnCount !== continued.number || session.activeTurnId !== null) return undefined
      const turnId = await beginTurn(db, deps, actor, { ...turn, sessionId: session.id })
      return { turnId, sessionId: session.id }
    }
    const [sessionId, turnId] = [newId(), newId()]
    const session = { id: sessionId, workspaceId, projectId: null, agentId: agent.id, title: null, metadata: {} }
    await insertSession(db, actor, session)
    if (imported.length > 0) {
      const events = imported.map((message) => messageCreated(actor, session, { ...message, turnId }))
      await queries.importMessages(db, actor.orgId, { sessionId, turnId, messages: imported }, events)
    }
    await beginTurn(db, deps, actor, { ...turn, sessionId, id: turnId })
    return { turnId, sessionId }
  })
  return begun ?? beginChat(deps, actor, request)
}

const finishReasons: Partial<Record<StopReason, ChatCompletion['choices'][0]['finish_reason']>> = {
  stop: 'stop',
  content_filter: 'content_filter',
}

export interface Completion {
  text: string
  /** `length` for every incomplete turn, whichever limit ended it. */
  finishReason: ChatCompletion['choices'][0]['finish_reason']
  usage: ChatUsage
  createdAt: string
}

/** The reply of a turn. Undefined while the turn is in progress; throws a ChatError when it ended without a reply. */
export const getCompletion = async (db: Db, actor: Actor, turnId: string): Promise<Completion | undefined> => {
  const result = await getTurnWithReply(db, actor, turnId)
  const { turn } = result
  const failure = turnFailure(turn)
  if (failure) throw failure
  if (!('message' in result) || turn.stopReason === null) return undefined
  const { inputTokens, outputTokens, totalTokens, cacheReadTokens } = turn.usage
  return {
    text: replyText(result.message?.parts ?? []),
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
