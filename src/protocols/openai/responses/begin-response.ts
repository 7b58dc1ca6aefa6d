import type { AgentRow } from '../../../agents/agents.ts'
import type { Actor } from '../../../identity/actor.ts'
import type { Db } from '../../../platform/database/database.ts'
import { ApiError, conflict, notFound } from '../../../platform/http/errors.ts'
import type { SessionDeps } from '../../../sessions/deps.ts'
import { listHistory } from '../../../sessions/message-queries.ts'
import type { MessageRow } from '../../../sessions/message-queries.ts'
import { replyText } from '../../../sessions/turns/reply-text.ts'
import { getTurnWithReply } from '../../../sessions/turns/turn-details.ts'
import { beginChat } from '../completions.ts'
import type { Details } from '../completions.ts'
import { callerRounds, giveOutputs } from '../continuation.ts'
import type { BegunChat } from '../continuation.ts'
import type { ConversationMessage } from '../conversation.ts'
import { invalid } from '../errors.ts'
import { parseToolCallId } from '../tools.ts'
import * as queries from './queries.ts'
import type { ResponseRecord } from './queries.ts'
import { resolveReferences } from './references.ts'
import { readFunctions, readInput, readInputConversation, readTextFormat } from './request.ts'
import type { GivenOutput } from './request.ts'
import { parseResponseId } from './response.ts'
import type { ResponseRef } from './response.ts'
import type { ResponseCreate } from './schemas.ts'

export interface FoundResponse {
  ref: ResponseRef
  details: Details
  record: ResponseRecord
}

const unknown = notFound('Response')

/** A response of the caller. NOT_FOUND for those of others, for turns that began in another way and for deleted ones. */
export const findOwnResponse = async (db: Db, actor: Actor, id: string): Promise<FoundResponse> => {
  const ref = parseResponseId(id)
  if (!ref) throw unknown
  const record = await queries.findResponse(db, actor.orgId, ref.turnId, ref.afterStep)
  if (!record?.isStored) throw unknown
  const details = await getTurnWithReply(db, actor, ref.turnId).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'NOT_FOUND' ? unknown : error
  })
  if (details.turn.userId !== actor.userId) throw unknown
  return { ref, details, record }
}

const findPrevious = async (db: Db, actor: Actor, id: string): Promise<FoundResponse> => {
  try {
    return await findOwnResponse(db, actor, id)
  } catch (error) {
    if (error !== unknown) throw error
    throw invalid('previous_response_id', `Previous response with id '${id}' not found.`)
  }
}

/** The outputs for all calls of a response, in its turn. */
const resume = async (
  deps: SessionDeps,
  actor: Actor,
  { ref, details }: FoundResponse,
  { outputs, body }: { outputs: readonly GivenOutput[]; body: ResponseCreate },
): Promise<BegunChat> => {
  const { turn } = details
  const round = callerRounds(turn).find(({ step }) => step > ref.afterStep)
  if (!round) throw invalid('previous_response_id', 'The previous response has no function calls.')
  const given = new Map(outputs.map((one) => [parseToolCallId(one.id)?.callId, one]))
  const missing = round.calls.find(({ id }) => !given.has(id))
  if (missing || given.size !== round.calls.length) {
    throw invalid('input', 'input must contain one output for each function call of the previous response')
  }
  const calls = round.calls.map(({ id, toolName: name }) => ({ ...(given.get(id) as GivenOutput), name, input: '' }))
  const begun = await giveOutputs(deps, actor, { turn, afterStep: round.step, calls, callerTools: readFunctions(body) })
  if (!begun) throw conflict('The function calls of the previous response have other outputs.')
  return begun
}

const toConversation = ({ role, parts }: MessageRow): ConversationMessage => ({
  role,
  text: replyText(parts),
  fileIds: parts.flatMap((part) => (part.type === 'file' ? [part.fileId] : [])),
  inline: [],
  calls: [],
})

const historyLimits = { limit: 1_000, maxBytes: 1_000_000 }

/** The messages of the session up to the reply of a response. */
const historyOf = async (
  db: Db,
  actor: Actor,
  { details: { turn } }: FoundResponse,
): Promise<ConversationMessage[]> => {
  if (turn.endedAt === null) {
    throw callerRounds(turn).length > 0
      ? invalid('input', 'input must contain only the outputs of the function calls of the previous response')
      : invalid('previous_response_id', 'The previous response has not ended.')
  }
  const { sessionId, number: turnNumber, skipped } = turn
  const messages = await listHistory(db, { orgId: actor.orgId, sessionId, turnNumber, skipped, ...historyLimits })
  return messages.toReversed().map(toConversation)
}

/** The turn that a request to create a response starts or continues. */
export const beginResponse = async (
  deps: SessionDeps,
  actor: Actor,
  { agent, body }: { agent: AgentRow; body: ResponseCreate },
): Promise<BegunChat> => {
  const { db } = deps
  const { messages, outputs } = readInput(await resolveReferences(db.hot, actor, body.input))
  const { previous_response_id: previousId = null, instructions = null, metadata, store, background } = body
  const previous = previousId === null ? undefined : await findPrevious(db.hot, actor, previousId)
  const record: ResponseRecord = {
    model: body.model,
    metadata: metadata ?? {},
    previousId,
    isBackground: background === true,
    isStored: store !== false,
  }
  const setRecord = (on: Db, turnId: string, afterStep: number) =>
    queries.setResponse(on, actor.orgId, { turnId, afterStep }, record)
  if (previous && outputs) {
    const begun = await resume(deps, actor, previous, { outputs, body })
    await setRecord(db, begun.turnId, begun.afterStep ?? 0)
    return begun
  }
  const conversation = readInputConversation(messages, instructions)
  const history = previous ? await historyOf(db.hot, actor, previous) : []
  const begun = await beginChat(deps, actor, {
    agent,
    conversation: { ...conversation, history: [...history, ...conversation.history] },
    maxOutputTokens: body.max_output_tokens ?? null,
    callerTools: readFunctions(body),
    stopSequences: null,
    responseFormat: readTextFormat(body),
    continues: previous && previous.details.turn.agentId === agent.id ? previous.details.turn : undefined,
    alsoStore: async (on, turnId) => void (await setRecord(on, turnId, 0)),
  })
  if (begun.afterStep !== undefined) await setRecord(db, begun.turnId, begun.afterStep)
  return begun
}
