import { defineJob } from '../../platform/jobs/jobs.ts'

/** The loop guard: the maximum number of messages between agents from a turn that a person started to another turn. */
export const maxPeerDepth = 4

const settings = { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 30, fairBy: 'orgId' }

/**
 * Run a turn. The turn's row determines what to do, so a superfluous job does nothing. pg-boss detects a killed worker
 * after 20 s and gives the job to another one. Each depth has its own queue: a turn waits for the turns that its messages
 * start, and in a shared queue these could wait for its place in turn.
 */
export const turnJobs = Array.from({ length: maxPeerDepth + 1 }, (_, depth) =>
  defineJob<{ orgId: string; turnId: string }>(depth === 0 ? 'turn.run' : `turn.run-${depth}`, settings),
)

const [firstJob] = turnJobs as [(typeof turnJobs)[number]]

/** The job of a turn at a depth: the number of messages between agents since the turn that a person started. */
export const turnJob = (depth: number): (typeof turnJobs)[number] => turnJobs[depth] ?? firstJob

/** Cancels the turns that a cancelled turn started by messages to other agents. */
export const cancelPeers = defineJob<{ orgId: string; turnId: string }>('turn.cancel-peers', { fairBy: 'orgId' })

/** A turn in a provider's chat ended. The job is handled by connectors, which send the reply to the chat. */
export const connectorTurnEnded = defineJob<{ orgId: string; turnId: string }>('connector.turn-ended', {
  fairBy: 'orgId',
})
