import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { answerChat, hear } from '../chats/chats.ts'
import * as endpointQueries from './queries.ts'
import * as eventQueries from './event-queries.ts'
import { hearEvent } from './inbox.ts'
import { answer, turnEnded } from '../chats/replies.ts'
import type { ReplyDeps } from '../chats/replies.ts'

/** What the agent runtime enqueues when a turn in a chat has ended. The name is all that the two areas share. */
const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended')
const expireEvents = defineJob<Record<string, never>>('connector.expire-events')
const expireBatch = 5_000

/** Lets go of what nobody needs any more: secrets of deleted connections, events that no provider repeats. */
export const expireReceivers = async (db: Database): Promise<void> => {
  await endpointQueries.wipeOrphans(db)
  while ((await eventQueries.expireEvents(db, expireBatch)) === expireBatch);
  await endpointQueries.deleteAbandoned(db)
}

/** The work on messages of chats and their answers, and every hour the end of events that are 8 days old. */
export const registerReceiverJobs = (jobs: Jobs, deps: ReplyDeps): void => {
  jobs.work(hearEvent, (event) => hear(deps, event), { concurrency: 10 })
  jobs.work(connectorTurnEnded, (turn) => turnEnded(deps, turn), { concurrency: 10 })
  // Answers wait for providers most of their time.
  jobs.work(answerChat, (chat, context) => answer(deps, chat, context), { concurrency: 50 })
  jobs.schedule(expireEvents, '17 * * * *')
  jobs.work(expireEvents, () => expireReceivers(deps.db))
}
