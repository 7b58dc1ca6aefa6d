import type { Message, Part, Role, Task, TaskState, TaskStatus } from '@a2a-js/sdk'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { MessagePart } from '../../sessions/schemas.ts'
import { findTurnMessage } from '../../sessions/turns/details-queries.ts'
import { replyText } from '../../sessions/turns/reply-text.ts'
import { getTurnWithReply } from '../../sessions/turns/turn-details.ts'

export type Details = Awaited<ReturnType<typeof getTurnWithReply>>
type Turn = Details['turn']

/** What a person must do so that a waiting turn continues. */
export type Need = 'answer' | 'decision'

/** What a task shows of its turn. */
export interface TaskTurn extends Pick<
  Turn,
  'id' | 'sessionId' | 'number' | 'status' | 'stopReason' | 'error' | 'createdAt' | 'claimedAt' | 'endedAt'
> {
  /** Empty when the turn waits for outputs of its caller's tools. Null when it does not wait any more. */
  needs: readonly Need[] | null
}

/** The message that began a turn. */
interface AskedMessage {
  id: string
  parts: MessagePart[]
}

// The library's enums as numbers, so that it need not be loaded: TaskState and Role of the protocol's definition.
export const states = {
  queued: 1,
  running: 2,
  completed: 3,
  incomplete: 3,
  failed: 4,
  cancelled: 5,
  requires_action: 8,
} as const satisfies Record<Turn['status'], TaskState>
const userRole: Role = 1
const agentRole: Role = 2

export const isUser = (role: Role): boolean => role === userRole

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

const actions = {
  answer: 'answer a question of a tool',
  decision: 'decide about a tool call',
} as const satisfies Record<Need, string>

const pauseNote = ({ id, needs }: TaskTurn): string => {
  const path = `/api/v1/turns/${id}`
  if (needs === null) return 'The task waited for a person.'
  if (needs.length === 0) return `The outputs of the caller's tools are needed: POST ${path}/tool-outputs.`
  const what = needs.map((need) => actions[need]).join(' and ')
  return `A person must ${what}: POST ${path}/approvals, or in the console.`
}

const noteOf = (turn: TaskTurn): string | undefined => {
  const { status, stopReason, error } = turn
  if (status === 'failed') return error?.message ?? 'The turn failed.'
  if (status === 'incomplete') return `The reply is incomplete (${stopReason}).`
  return status === 'requires_action' ? pauseNote(turn) : undefined
}

const toMessage = (
  turn: TaskTurn,
  role: Message['role'],
  { messageId, parts }: Pick<Message, 'messageId' | 'parts'>,
): Message => ({
  messageId,
  contextId: turn.sessionId,
  taskId: turn.id,
  role,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

/** The status; its time is that of the last change, so that each pause of a task has another one. */
export const toStatus = (turn: TaskTurn): TaskStatus => {
  const note = noteOf(turn)
  const message = note === undefined ? undefined : { messageId: `${turn.id}-status`, parts: [textPart(note)] }
  return {
    state: states[turn.status],
    message: message && toMessage(turn, agentRole, message),
    timestamp: turn.endedAt ?? turn.claimedAt ?? turn.createdAt,
  }
}

const toPart = (part: MessagePart): Part[] => {
  if (part.type === 'text') return [textPart(part.text)]
  // Only its name: the bytes are at GET /api/v1/files/:id/download.
  return part.type === 'file' ? [textPart(`[file ${part.name}]`)] : []
}

/** The id of the one artifact of a task: the agent's reply. */
export const replyId = 'reply'

export const replyArtifact = (parts: Part[]) => ({
  artifactId: replyId,
  name: 'Reply',
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
})

const needs = { input: 'answer', approval: 'decision', consent: 'decision', repeat: 'decision' } as const

export const taskTurnOf = ({ turn }: Details): TaskTurn => ({
  ...turn,
  needs:
    turn.status === 'requires_action' ? [...new Set(turn.approvals.map(({ kind }) => needs[kind]))].toSorted() : null,
})

/** A turn of the caller with this agent, or undefined: those of others do not exist for the caller. */
export const findOwnTurn = async (
  db: Db,
  actor: Actor,
  agentId: string,
  turnId: string,
): Promise<Details | undefined> => {
  try {
    const details = await getTurnWithReply(db, actor, turnId)
    return details.turn.userId === actor.userId && details.turn.agentId === agentId ? details : undefined
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

const isoTime = <T extends string | null>(time: T): T => (time === null ? time : new Date(time).toISOString()) as T

/** Whether two times of the database are the same millisecond. */
export const isSameTime = (one: string | null, other: string | null): boolean => isoTime(one) === isoTime(other)

/** Of a turn that was read without its steps: rows have times in the format of the database. */
export const taskOfRow = (turn: TaskTurn, replyParts: MessagePart[] | null, asked: AskedMessage | undefined): Task =>
  taskOf(
    {
      ...turn,
      createdAt: isoTime(turn.createdAt),
      claimedAt: isoTime(turn.claimedAt),
      endedAt: isoTime(turn.endedAt),
    },
    replyParts ?? [],
    asked,
  )

/** A turn with its reply as a task, and with the message that began it as the history. */
const taskOf = (turn: TaskTurn, replyParts: MessagePart[], asked: AskedMessage | undefined): Task => {
  const reply = replyText(replyParts)
  return {
    id: turn.id,
    contextId: turn.sessionId,
    status: toStatus(turn),
    artifacts: reply === '' ? [] : [replyArtifact([textPart(reply)])],
    history: asked ? [toMessage(turn, userRole, { messageId: asked.id, parts: asked.parts.flatMap(toPart) })] : [],
    metadata: turn.stopReason === null ? undefined : { stopReason: turn.stopReason },
  }
}

/** The turn as a task. `historyLength`: at most this many messages; undefined: all. */
export const toTask = async (
  db: Db,
  actor: Actor,
  details: Details,
  historyLength: number | undefined,
): Promise<Task> => {
  const turn = taskTurnOf(details)
  const reply = 'message' in details ? (details.message?.parts ?? []) : []
  return taskOf(turn, reply, historyLength === 0 ? undefined : await findTurnMessage(db, actor.orgId, turn))
}
