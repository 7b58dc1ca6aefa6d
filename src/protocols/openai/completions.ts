import { findAgent, listAgents } from '../../agents/agents.ts'
import type { AgentRow } from '../../agents/agents.ts'
import { isOwnName } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { newId } from '../../platform/ids.ts'
import { cleanJson, cleanText } from '../../platform/text/text.ts'
import type { OutputFormat } from '../../sessions/output/schemas.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { replyPartsOf } from '../../sessions/runtime/prompt/reply-parts.ts'
import { newCallId } from '../../sessions/runtime/steps/model-response.ts'
import { checkCallerTools } from '../../sessions/turns/caller-tools/caller-tools.ts'
import type { CallerTools } from '../../sessions/turns/caller-tools/schemas.ts'
import { outputText, publicParts } from '../../sessions/turns/step-parts.ts'
import { getTurnWithReply } from '../../sessions/turns/turn-details.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { messageCreated } from '../../sessions/events.ts'
import * as sessionQueries from '../../sessions/queries.ts'
import { insertSession } from '../../sessions/sessions.ts'
import type { Author, MessagePart } from '../../sessions/schemas.ts'
import { isSkipped } from '../../sessions/branches/skipped.ts'
import { beginTurn, toMessageParts } from '../../sessions/turns/begin-turn.ts'
import type { StopReason } from '../../sessions/turns/queries.ts'
import { callerRounds, findContinuedTurn, ownerOf, resumeChat } from './continuation.ts'
import type { BegunChat } from './continuation.ts'
import type { ChatCompletion, ChatModel, ChatToolCall, ChatUsage } from './schemas.ts'
import { toChatToolCall } from './tools.ts'
import * as queries from './queries.ts'
import type { ImportedMessage } from './queries.ts'
import { conversationDigest, lastUserIndex, storeInlineFiles } from './conversation.ts'
import type { Conversation, ConversationMessage } from './conversation.ts'
import { turnFailure, modelNotFound } from './errors.ts'

const modelPrefix = 'agent/'

export const unixSeconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000)

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

const parseArguments = (input: string): unknown => {
  try {
    return cleanJson(parseForeignJson(input))
  } catch {
    return cleanText(input)
  }
}

/** The calls of a message that have an output. Their ids are those of another server, which providers may not accept. */
const callParts = ({ calls }: ConversationMessage): MessagePart[] => {
  const known = calls.filter(({ output }) => output !== undefined).map((call) => ({ ...call, callId: newCallId() }))
  return [
    ...known.map(({ callId: toolCallId, name: toolName, input }): MessagePart => {
      return { type: 'tool-call', toolCallId, toolName, input: parseArguments(input) }
    }),
    ...known.map(({ callId: toolCallId, name: toolName, output }): MessagePart => {
      return { type: 'tool-result', toolCallId, toolName, output, isError: false }
    }),
  ]
}

/** The name of a tool with an output in the history, which is untrusted content. */
const toolWithOutput = (history: readonly ConversationMessage[]): string | null =>
  history.flatMap(({ calls }) => calls).find(({ output }) => output !== undefined)?.name ?? null

/** Whether the person gave all attached files their names. Others are untrusted, as in messages of the native API. */
const hasOwnFiles = async (db: Database, actor: Actor, messages: readonly ConversationMessage[]): Promise<boolean> => {
  const ids = [...new Set(messages.flatMap(({ fileIds }) => fileIds))]
  return !(await Promise.all(ids.map((id) => isOwnName(db.hot, actor, id)))).includes(false)
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
      parts: [...(await toMessageParts(db, actor, message)), ...callParts(message)],
    })),
  )
}

export interface ContinuedTurn {
  sessionId: string
  /** The number of the turn in its session. */
  number: number
}

export interface ChatRequest {
  agent: AgentRow
  conversation: Conversation
  maxOutputTokens: number | null
  callerTools: CallerTools | undefined
  stopSequences: string[] | null
  responseFormat: OutputFormat | null
  /** The ended turn that the new one follows in its session, if it is still the last one. */
  continues?: ContinuedTurn | undefined
  /** Runs in the transaction that creates the turn. */
  alsoStore?: ((db: Transaction, turnId: string) => Promise<void>) | undefined
}

/** For a history that ends with outputs of which no turn is known. The model continues from them. */
const goOn: ConversationMessage = { role: 'user', text: 'Go on.', fileIds: [], inline: [], calls: [] }

/**
 * Creates the turn that replies to a conversation: in the session that already contains its history, or in a new session
 * that imports the history. Session, messages, turn and job are stored in one transaction.
 */
const createChat = async (deps: SessionDeps, actor: Actor, request: ChatRequest): Promise<BegunChat> => {
  const { db } = deps
  const { agent, conversation, maxOutputTokens, callerTools, stopSequences, responseFormat } = request
  const { instructions, history, newMessage = goOn } = conversation
  const workspaceId = workspaceOf(actor)
  const [parts, continued] = await Promise.all([
    toMessageParts(db, actor, newMessage),
    request.continues ?? (conversation.newMessage && findContinuedTurn(db, actor, agent, history)),
  ])
  const isTrusted = await hasOwnFiles(db, actor, continued ? [newMessage] : [...history, newMessage])
  const untrustedFrom = (continued ? null : toolWithOutput(history)) ?? (isTrusted ? null : 'file')
  const imported = continued ? [] : await toImportedMessages(db, actor, agent, history)
  // What the client sends before the reply when it sends the conversation again.
  const asked = conversation.newMessage ? [...history, newMessage] : history.slice(0, lastUserIndex(history) + 1)
  const callerDigest = conversationDigest(ownerOf(actor, agent), asked)
  const turn = {
    parts,
    instructions,
    maxOutputTokens,
    callerDigest,
    callerTools,
    stopSequences,
    responseFormat,
    untrustedFrom,
  }

  const begun = await db.transaction(actor, async (db) => {
    if (continued) {
      const session = await sessionQueries.lockSession(db, actor.orgId, continued.sessionId)
      // Another request has added a turn in the meantime, which is not part of this conversation.
      if (session?.turnCount !== continued.number || session.activeTurnId !== null) return undefined
      // A person has switched to another branch.
      if (isSkipped(session.skipped, continued.number)) return undefined
      const turnId = await beginTurn(db, deps, actor, { ...turn, sessionId: session.id })
      await request.alsoStore?.(db, turnId)
      return { turnId, sessionId: session.id }
    }
    const [sessionId, turnId] = [newId(), newId()]
    const session = { id: sessionId, workspaceId, projectId: null, agentId: agent.id, title: null, metadata: {} }
    await insertSession(db, actor, { ...session, source: 'openai' })
    if (imported.length > 0) {
      const events = imported.map((message) => messageCreated(actor, session, { ...message, turnId }))
      await queries.importMessages(db, actor.orgId, { sessionId, turnId, messages: imported }, events)
    }
    await beginTurn(db, deps, actor, { ...turn, sessionId, id: turnId })
    await request.alsoStore?.(db, turnId)
    return { turnId, sessionId }
  })
  return begun ?? createChat(deps, actor, { ...request, continues: undefined })
}

/** The turn that replies to a conversation: the one that waits for the outputs at its end, or a new one. */
export const beginChat = async (deps: SessionDeps, actor: Actor, request: ChatRequest): Promise<BegunChat> => {
  const { agent, conversation, callerTools } = request
  const stored = await storeInlineFiles(deps, actor, conversation)
  if (!stored.newMessage) {
    const resumed = await resumeChat(deps, actor, { agent, history: stored.history, callerTools })
    if (resumed) return resumed
  }
  if (callerTools) await checkCallerTools(deps, actor, agent.id, callerTools)
  return createChat(deps, actor, { ...request, conversation: stored })
}

const finishReasons: Partial<Record<StopReason, ChatCompletion['choices'][0]['finish_reason']>> = {
  stop: 'stop',
  content_filter: 'content_filter',
}

export interface Completion {
  text: string
  toolCalls: ChatToolCall[]
  /** `length` for every incomplete turn, whichever limit ended it. */
  finishReason: ChatCompletion['choices'][0]['finish_reason']
  usage: ChatUsage
  createdAt: string
  /** When the model had responded for the last time. */
  completedAt: string
}

export type Details = Awaited<ReturnType<typeof getTurnWithReply>>

/** The text of some steps of a turn. */
const textOfSteps = ({ steps, toolCalls }: Details['turn'], isIncluded: (of: { step: number }) => boolean): string => {
  const calls = toolCalls.filter(isIncluded).map(({ id: callId, ...call }) => ({ ...call, callId }))
  return replyText(publicParts(replyPartsOf({ steps: steps.filter(isIncluded), calls })))
}

/** The JSON of a reply with a format; undefined for other replies. */
const validatedText = ({ responseFormat, status, steps }: Details['turn']): string | undefined => {
  const last = steps.findLast((step) => step.status === 'completed')
  return responseFormat === null || status !== 'completed' ? undefined : outputText(last?.parts ?? [])
}

const usageOf = (steps: Details['turn']['steps']): ChatUsage => {
  const sum = (of: (step: Details['turn']['steps'][number]) => number): number =>
    steps.reduce((total, step) => total + of(step), 0)
  const [input, output] = [sum(({ inputTokens }) => inputTokens), sum(({ outputTokens }) => outputTokens)]
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: sum(({ cacheReadTokens }) => cacheReadTokens) },
  }
}

/**
 * The completion of a turn after a step: until it hands calls to its caller, or its end. Undefined while it is in progress;
 * throws a ChatError when the turn ended without a reply or waits for a person.
 */
export const getCompletion = async (
  db: Db,
  actor: Actor,
  { turnId, afterStep = 0 }: Pick<BegunChat, 'turnId' | 'afterStep'>,
): Promise<Completion | undefined> => completionOf(await getTurnWithReply(db, actor, turnId), afterStep)

/** The same for a turn that was read. */
export const completionOf = (result: Details, afterStep: number): Completion | undefined => {
  const { turn } = result
  const round = callerRounds(turn).find(({ step }) => step > afterStep)
  const isIncluded = ({ step }: { step: number }): boolean =>
    step > afterStep && (round === undefined || step <= round.step)
  const { createdAt } = turn
  const completedAt = (round ? turn.steps.findLast(isIncluded)?.endedAt : turn.endedAt) ?? createdAt
  const common = { usage: usageOf(turn.steps.filter(isIncluded)), createdAt, completedAt }
  if (round) {
    const toolCalls = round.calls.map((call) => toChatToolCall(turn.id, call))
    return { ...common, text: textOfSteps(turn, isIncluded), toolCalls, finishReason: 'tool_calls' }
  }
  const failure = turnFailure(turn)
  if (failure) throw failure
  if (!('message' in result) || turn.stopReason === null) return undefined
  const text =
    validatedText(turn) ?? (afterStep === 0 ? replyText(result.message?.parts ?? []) : textOfSteps(turn, isIncluded))
  return { ...common, text, toolCalls: [], finishReason: finishReasons[turn.stopReason] ?? 'length' }
}

export const toChatCompletion = (
  begun: BegunChat,
  model: string,
  { text, toolCalls, finishReason, usage, createdAt }: Completion,
): ChatCompletion => ({
  id: chatId(begun),
  object: 'chat.completion',
  created: unixSeconds(createdAt),
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: text === '' && toolCalls.length > 0 ? null : text,
        refusal: null,
        ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
      },
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  usage,
})

/** Each completion of a turn has its own id. */
export const chatId = ({ turnId, afterStep = 0 }: Pick<BegunChat, 'turnId' | 'afterStep'>): string =>
  `chatcmpl-${turnId}${afterStep === 0 ? '' : `-${afterStep}`}`
