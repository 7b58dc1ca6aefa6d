import { chainOf } from '../../outbox/chain.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { EventKey } from '../endpoints/event-queries.ts'
import * as endpointQueries from '../endpoints/queries.ts'
import * as queries from './queries.ts'
import type { ChatKey } from './queries.ts'
import type { ChatAgent, ReceivedMessage, ChatRuntime } from './runtime.ts'

/** Sends the replies of a chat. */
export const replyJob = defineJob<ChatKey>('connector.answer', {
  retryLimit: 50,
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 30,
  fairBy: 'orgId',
})

/** Enqueues one job for the chat. The singleton key prevents a second waiting job. */
export const enqueueReplies = (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  chat: ChatKey,
  startAfterSeconds = 0,
): Promise<void> =>
  jobs.enqueue(db, replyJob, chat, {
    singletonKey: `${chat.endpointId}/${chat.chat}`,
    startAfterSeconds,
    member: chat.endpointId,
  })

export interface ChatDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  runtime: ChatRuntime
}

/** A retry would fail in the same way. Errors of 500 and above are temporary. */
const isPermanent = (error: unknown): error is ApiError => error instanceof ApiError && error.status < 500

/** The message of an attempt to start a turn. Undefined when the attempt failed before it chose one. */
interface Attempt {
  externalId?: string
}

/**
 * Fails the message of an attempt, unless another job has handled it. Its reply is an apology, and the reason is stored for
 * the owner. An attempt without a message fails the next one.
 */
const failMessage = ({ db, jobs }: ChatDeps, chat: ChatKey, { externalId }: Attempt, reason: string): Promise<void> =>
  db.transaction(chat, async (db) => {
    await queries.lockChat(db, chat)
    const next = await queries.findWaiting(db, chat)
    if (!next || (externalId !== undefined && externalId !== next.externalId)) return
    await queries.startReply(db, chat, next.externalId, { turnId: null, error: reason })
    await enqueueReplies(db, jobs, chat)
  })

const takeNextMessage =
  (chat: ChatKey, attempt: Attempt) =>
  async (db: Transaction): Promise<ReceivedMessage | undefined> => {
    const locked = await queries.lockChat(db, chat)
    const next = locked && (await queries.findWaiting(db, chat))
    if (!next) return undefined
    attempt.externalId = next.externalId
    const turnId = newId()
    await queries.startReply(db, chat, next.externalId, { turnId, error: null })
    return {
      turnId,
      sessionId: locked.sessionId,
      title: next.title ?? chat.chat,
      sender: next.sender ?? 'Unknown sender',
      text: next.message ?? '',
      chain: chainOf(next),
    }
  }

/**
 * Handles the job of one event: starts a turn for each waiting message of the event's chat, in order. Messages that
 * another job of the same chat has handled are skipped.
 */
export const startTurns = async (deps: ChatDeps, event: EventKey): Promise<void> => {
  const { db, runtime } = deps
  const { orgId, endpointId } = event
  const found = await queries.findEvent(db, event)
  if (found?.state !== 'waiting' || found.chat === null) return
  const endpoint = await endpointQueries.findEndpoint(db, orgId, endpointId)
  if (!endpoint || endpoint.agentId === null) return
  const { workspaceId, userId, agentId } = endpoint
  const agent: ChatAgent = { orgId, workspaceId, userId, agentId, endpointId }
  const chat: ChatKey = { orgId, endpointId, chat: found.chat }
  await queries.insertChat(db, chat)
  const saveSession = async (db: Transaction, sessionId: string): Promise<void> => {
    await queries.setSession(db, chat, sessionId)
  }
  for (;;) {
    const attempt: Attempt = {}
    try {
      if (!(await runtime.beginTurn(agent, takeNextMessage(chat, attempt), saveSession))) return
    } catch (error) {
      if (!isPermanent(error)) throw error
      await failMessage(deps, chat, attempt, error.message)
    }
  }
}
