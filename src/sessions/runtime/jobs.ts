import { defineJob } from '../../platform/jobs/jobs.ts'

/** How many messages between agents may lead from a turn that a person began to another turn. */
export const maxHops = 4

const settings = { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 30, fairBy: 'orgId' }

/**
 * Runs a turn. The turn's row says what is to be done, so a superfluous job does nothing. pg-boss notices a killed worker
 * after 20 s and gives the job to another one. Each hop has a queue of its own: a turn waits for the turns that its
 * messages began, and with one queue for all hops they could wait for its place.
 */
export const turnJobs = Array.from({ length: maxHops + 1 }, (_, hop) =>
  defineJob<{ orgId: string; turnId: string }>(hop === 0 ? 'turn.run' : `turn.run-${hop}`, settings),
)

const [firstJob] = turnJobs as [(typeof turnJobs)[number]]

/** The job of a turn that is `hop` messages away from the turn that a person began. */
export const turnJob = (hop: number): (typeof turnJobs)[number] => turnJobs[hop] ?? firstJob

/** Cancels the turns that a cancelled turn asked of other agents. */
export const cancelPeers = defineJob<{ orgId: string; turnId: string }>('turn.cancel-peers')

/** A turn in a provider's chat ended. The job is handled by connectors, which send the reply to the chat. */
export const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended')
