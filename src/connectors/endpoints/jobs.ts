import type { Database } from '../../platform/database/database.ts'
import { dropExpired } from '../../platform/database/partitions.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { replyJob, startTurns } from '../chats/chats.ts'
import * as endpointQueries from './queries.ts'
import type { RetentionSettings } from './endpoints.ts'
import * as eventQueries from './event-queries.ts'
import { handleEvent } from './inbox.ts'
import { replyToTurn, sendReplies } from '../chats/replies.ts'
import type { ReplyDeps } from '../chats/replies.ts'

/** Enqueued by the agent runtime when a turn in a chat has ended. The modules share only the name of the job. */
const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended', {
  fairBy: 'orgId',
})
const expireEvents = defineJob<Record<string, never>>('connector.expire-events')
const expireBatch = 5_000

/** Deletes the secrets of deleted connections, events of more than `days` days, and unused endpoints. */
export const expireEndpoints = async (db: Database, days: number): Promise<void> => {
  await endpointQueries.wipeOrphans(db)
  while ((await eventQueries.expireKeys(db, days, expireBatch)) === expireBatch);
  await dropExpired(db, 'connector_events', { days })
  await endpointQueries.deleteAbandoned(db)
}

/** The jobs for messages and replies of chats, and the hourly expiry of events. */
export const registerEndpointJobs = (jobs: Jobs, deps: ReplyDeps & { config: RetentionSettings }): void => {
  jobs.work(handleEvent, (event) => startTurns(deps, event), { concurrency: 10 })
  jobs.work(connectorTurnEnded, (turn) => replyToTurn(deps, turn), { concurrency: 10 })
  // High, because a reply mostly waits for the provider.
  jobs.work(replyJob, (chat, context) => sendReplies(deps, chat, context), { concurrency: 50 })
  jobs.schedule(expireEvents, '17 * * * *')
  jobs.work(expireEvents, () => expireEndpoints(deps.db, deps.config.retention.connectorEventsDays), { concurrency: 1 })
}
