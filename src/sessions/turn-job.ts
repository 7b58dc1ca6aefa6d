import { defineJob } from '../platform/jobs.ts'

/**
 * There is work on a turn. Its row says what; a job too many finds nothing to do. A worker that was killed is noticed
 * after 20 s, and the turn goes on elsewhere.
 */
export const runTurn = defineJob<{ orgId: string; turnId: string }>('turn.run', {
  retryLimit: 50,
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 30,
})

/** A turn was cancelled: so are those that it asked of other agents. */
export const cancelPeers = defineJob<{ orgId: string; turnId: string }>('turn.cancel-peers')

/** A turn in the chat of a provider ended; connectors work on it, and send its reply there. */
export const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended')
