import type { Database, Transaction } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as chatQueries from './queries.ts'
import type { ChatKey } from './queries.ts'
import type { Answering, ChatRuntime, Heard } from './runtime.ts'
import * as endpointQueries from '../endpoints/queries.ts'
import type { EventKey } from '../endpoints/event-queries.ts'

/** Something is to be sent to a chat. */
export const answerChat = defineJob<ChatKey>('connector.answer', {
  retryLimit: 50,
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 30,
})

/** Makes sure that somebody sends what is ready in the chat after this commit, or after a while. */
export const enqueueAnswer = (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  chat: ChatKey,
  startAfterSeconds = 0,
): Promise<void> =>
  jobs.enqueue(db, answerChat, chat, { singletonKey: `${chat.endpointId}/${chat.chat}`, startAfterSeconds })

export interface ChatDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  runtime: ChatRuntime
}

/** A refusal that will be the same next time, as opposed to something that is away for now. */
const isFinal = (error: unknown): error is ApiError => error instanceof ApiError && error.status < 500

/** The chat's next message is answered with an apology: nobody will take it. */
const giveUp = ({ db, jobs }: ChatDeps, chat: ChatKey, reason: string): Promise<void> =>
  db.transaction(chat, async (db) => {
    await chatQueries.lockChat(db, chat)
    const next = await chatQueries.findWaiting(db, chat)
    if (!next) return
    await chatQueries.beginAnswer(db, chat, next.externalId, { turnId: null, error: reason })
    await enqueueAnswer(db, jobs, chat)
  })

const hearNext =
  (chat: ChatKey) =>
  async (db: Transaction): Promise<Heard | undefined> => {
    const locked = await chatQueries.lockChat(db, chat)
    const next = locked && (await chatQueries.findWaiting(db, chat))
    if (!next) return undefined
    const turnId = newId()
    await chatQueries.beginAnswer(db, chat, next.externalId, { turnId, error: null })
    return {
      turnId,
      sessionId: locked.sessionId,
      title: next.title ?? chat.chat,
      sender: next.sender ?? 'Somebody',
      text: next.message ?? '',
    }
  }

/**
 * The job of an event: gives the agent everything that waits in the event's chat, in its order, each message as a turn of
 * its own. What another job of the chat has given it already is not there any more.
 */
export const hear = async (deps: ChatDeps, event: EventKey): Promise<void> => {
  const { db, runtime } = deps
  const { orgId, endpointId } = event
  const found = await chatQueries.findEvent(db, event)
  if (found?.state !== 'waiting' || found.chat === null) return
  const endpoint = await endpointQueries.findEndpoint(db, orgId, endpointId)
  if (!endpoint || endpoint.agentId === null) return
  const { workspaceId, userId, agentId } = endpoint
  const answering: Answering = { orgId, workspaceId, userId, agentId }
  const chat: ChatKey = { orgId, endpointId, chat: found.chat }
  await chatQueries.insertChat(db, chat)
  const keep = async (db: Transaction, sessionId: string): Promise<void> => {
    await chatQueries.setSession(db, chat, sessionId)
  }
  for (;;) {
    try {
      if (!(await runtime.beginTurn(answering, hearNext(chat), keep))) return
    } catch (error) {
      if (!isFinal(error)) throw error
      await giveUp(deps, chat, error.message)
    }
  }
}
