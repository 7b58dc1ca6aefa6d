import { defineJob } from '../../platform/jobs/jobs.ts'

/** How many messages between agents may lead from a turn that a person began to another one. */
export const maxHops = 4

const settings = { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 30, fairBy: 'orgId' }

/**
 * There is work on a turn. Its row says what; a job too many finds nothing to do. A worker that was killed is noticed
 * after 20 s, and the turn goes on elsewhere. One kind for each hop, with room of its own: a turn waits for those that
 * its messages began, and they must not wait for it to make room.
 */
export const turnJobs = Array.from({ length: maxHops + 1 }, (_, hop) =>
  defineJob<{ orgId: string; turnId: string }>(hop === 0 ? 'turn.run' : `turn.run-${hop}`, settings),
)

const [firstKind] = turnJobs as [(typeof turnJobs)[number]]

export const runTurn = (hop: number): (typeof turnJobs)[number] => turnJobs[hop] ?? firstKind

/** A turn was cancelled: so are those that it asked of other agents. */
export const cancelPeers = defineJob<{ orgId: string; turnId: string }>('turn.cancel-peers')

/** A turn in the chat of a provider ended; connectors work on it, and send its reply there. */
export const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended')
