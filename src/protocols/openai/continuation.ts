// Finds the session or the waiting turn that a request continues.
import type { AgentRow } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { StoredResponse } from '../../platform/http/idempotency/idempotency.ts'
import type { MessagePart } from '../../sessions/schemas.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { findLastSeq } from '../../sessions/streams/queries.ts'
import { checkCallerTools, isOfCaller, readCallerTools } from '../../sessions/turns/caller-tools/caller-tools.ts'
import type { CallerTools } from '../../sessions/turns/caller-tools/schemas.ts'
import { giveToolOutputs } from '../../sessions/turns/caller-tools/outputs.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { getTurnWithReply } from '../../sessions/turns/turn-details.ts'
import { conversationDigest, lastUserIndex } from './conversation.ts'
import type { ConversationCall, ConversationMessage } from './conversation.ts'
import { turnFailure } from './errors.ts'
import * as queries from './queries.ts'
import { parseToolCallId } from './tools.ts'

/** A turn that replies to a request. */
export interface BegunChat {
  turnId: string
  sessionId: string
  /** The last step whose outputs the request gave; 0 for a new turn. The completion begins after it. */
  afterStep?: number | undefined
  /** The number of the last event of the turn before the completion; 0 for a new turn. */
  after?: number
}

/** The turn that an earlier request with the same Idempotency-Key created. Undefined when that request was rejected. */
export const begunBefore = ({ status, body }: StoredResponse): BegunChat | undefined =>
  status === 202 ? (JSON.parse(body) as BegunChat) : undefined

/** The people, workspace and agent to which a conversation belongs. */
export const ownerOf = (actor: Actor, agent: AgentRow): string[] => [actor.userId, workspaceOf(actor), agent.id]

/** The last reply of a history: the rounds of tool calls, and the text after them. */
const lastReply = (history: ConversationMessage[]) => {
  const at = lastUserIndex(history) + 1
  return { before: history.slice(0, at), rounds: history.slice(at, -1), last: history.at(-1) }
}

/** Whether the calls and outputs of a history are those of an ended turn. Returns the parts of its reply after them. */
const partsAfter = (
  { id, parts }: queries.RepliedTurn,
  rounds: ConversationMessage[],
): readonly MessagePart[] | undefined => {
  let last = -1
  for (const { calls } of rounds) {
    if (calls.length === 0) return undefined
    for (const call of calls) {
      const known = parseToolCallId(call.id)
      const at = parts.findIndex((part) => part.type === 'tool-result' && part.toolCallId === known?.callId)
      const result = parts[at]
      if (known?.turnId !== id || result?.type !== 'tool-result' || result.output !== call.output) return undefined
      last = Math.max(last, at)
    }
  }
  return parts.slice(last + 1)
}

/** The last turn of the session whose messages equal the history, including the reply. */
export const findContinuedTurn = async (
  db: Db,
  actor: Actor,
  agent: AgentRow,
  history: ConversationMessage[],
): Promise<queries.RepliedTurn | undefined> => {
  const { before, rounds, last } = lastReply(history)
  if (last?.role !== 'assistant' || last.calls.length > 0) return undefined
  const digest = conversationDigest(ownerOf(actor, agent), before)
  const workspaceId = workspaceOf(actor)
  const replied = await queries.listRepliedTurns(db, actor, { workspaceId, agentId: agent.id, digest })
  return replied.find((turn) => {
    const parts = partsAfter(turn, rounds)
    return parts !== undefined && replyText([...parts]).trim() === last.text.trim()
  })
}

export type TurnDetails = Awaited<ReturnType<typeof getTurnWithReply>>['turn']
type TurnCall = TurnDetails['toolCalls'][number]

/** The calls that a turn has handed to its caller, in order, by step. */
export const callerRounds = ({ clientTools, toolCalls }: TurnDetails): { step: number; calls: TurnCall[] }[] => {
  const handed = toolCalls.filter((call) => call.attempts > 0 && isOfCaller(clientTools, call))
  return [...Map.groupBy(handed, ({ step }) => step)].map(([step, calls]) => ({ step, calls }))
}

const callIds = (calls: readonly ConversationCall[], turnId: string): (string | undefined)[] =>
  calls.map(({ id }) => {
    const parsed = parseToolCallId(id)
    return parsed?.turnId === turnId ? parsed.callId : undefined
  })

/** The step of the calls of the last round, when all rounds are those of the turn with the outputs that it has. */
const stepOfRounds = (turn: TurnDetails, rounds: readonly ConversationMessage[]): number | undefined => {
  const handed = callerRounds(turn)
  const isSame = rounds.every(({ calls }, place) => {
    const own = new Map(handed[place]?.calls.map((call) => [call.id, call]))
    const ids = callIds(calls, turn.id)
    const isLast = place === rounds.length - 1
    return (
      ids.length === own.size &&
      ids.every((id, at) => {
        const known = id === undefined ? undefined : own.get(id)
        return known !== undefined && (isLast || known.output === calls[at]?.output)
      })
    )
  })
  return isSame ? handed[rounds.length - 1]?.step : undefined
}

const orUndefined =
  (code: ApiError['code']) =>
  (error: unknown): undefined => {
    if (error instanceof ApiError && error.code === code) return undefined
    throw error
  }

/**
 * The tools of the turn from now on. A tool that the request leaves out stays, because the turn has calls of it; without
 * any tools, the model calls none.
 */
const nextTools = ({ clientTools: known }: TurnDetails, given: CallerTools | undefined): CallerTools | undefined => {
  if (known === null) return given
  if (!given) return { ...known, choice: 'none' }
  const names = new Set(given.tools.map(({ name }) => name))
  const tools = [...given.tools, ...known.tools.filter(({ name }) => !names.has(name))]
  // Checked again, or many requests with a few tools each could add up to too many.
  return { ...given, ...readCallerTools(tools, given.choice) }
}

interface ResumeRequest {
  agent: AgentRow
  history: ConversationMessage[]
  callerTools: CallerTools | undefined
}

/** The turn whose last calls the history ends with; undefined when the history is not that of one turn of the caller. */
const findWaitingTurn = async (db: Db, actor: Actor, { agent, history }: ResumeRequest) => {
  const { before, rounds, last } = lastReply(history)
  const turnId = parseToolCallId(last?.calls[0]?.id ?? '')?.turnId
  if (!last || turnId === undefined) return undefined
  const found = await getTurnWithReply(db, actor, turnId).catch(orUndefined('NOT_FOUND'))
  if (found?.turn.userId !== actor.userId || found.turn.agentId !== agent.id) return undefined
  const digest = await queries.findConversationDigest(db, actor.orgId, turnId)
  if (digest?.equals(conversationDigest(ownerOf(actor, agent), before)) !== true) return undefined
  const afterStep = stepOfRounds(found.turn, [...rounds, last])
  return afterStep === undefined ? undefined : { turn: found.turn, afterStep, calls: last.calls }
}

/**
 * Gives the outputs at the end of a history to the turn that waits for them. Undefined when there is no such turn, or when
 * the client has changed the conversation. Throws a ChatError when the turn failed or was cancelled.
 */
export const resumeChat = async (
  deps: SessionDeps,
  actor: Actor,
  request: ResumeRequest,
): Promise<BegunChat | undefined> => {
  const found = await findWaitingTurn(deps.db.hot, actor, request)
  return found && giveOutputs(deps, actor, { ...found, callerTools: request.callerTools })
}

export interface GivenOutputs {
  turn: TurnDetails
  /** The step of the calls. */
  afterStep: number
  calls: readonly ConversationCall[]
  callerTools: CallerTools | undefined
}

/** Gives outputs to a turn of the caller. Undefined when it has others; throws a ChatError when it failed or was cancelled. */
export const giveOutputs = async (
  deps: SessionDeps,
  actor: Actor,
  { turn, afterStep, calls, callerTools: asked }: GivenOutputs,
): Promise<BegunChat | undefined> => {
  const failure = turn.endedAt === null ? undefined : turnFailure(turn)
  if (failure) throw failure
  const callerTools = nextTools(turn, asked)
  const known = new Set(turn.clientTools?.tools.map(({ name }) => name))
  if (callerTools?.tools.some(({ name }) => !known.has(name))) {
    await checkCallerTools(deps, actor, turn.agentId, callerTools)
  }
  const after = await findLastSeq(deps.db.hot, actor.orgId, turn.id)
  const ids = callIds(calls, turn.id)
  const outputs = calls.map(({ output }, at) => ({ callId: ids[at] ?? '', output }))
  const given = { turnId: turn.id, outputs, callerTools }
  const isNew = await giveToolOutputs(deps, actor, given).catch(orUndefined('CONFLICT'))
  if (isNew === undefined) return undefined
  // A repeated request gets the same completion, from the events since the beginning of the turn.
  return { turnId: turn.id, sessionId: turn.sessionId, afterStep, after: isNew ? after : 0 }
}
