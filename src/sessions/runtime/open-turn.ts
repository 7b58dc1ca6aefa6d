import type { Config } from '../../config/config.ts'
import type { Log } from '../../platform/process/log.ts'
import type { OutputValidator } from '../output/validator.ts'
import type { ModelClient } from '../models/model-client.ts'
import * as eventQueries from '../streams/queries.ts'
import { endsInsideStep } from '../streams/stream-parts.ts'
import * as callQueries from '../turns/call-queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import { createTurnAuthority } from './authority.ts'
import type { AuthorityDeps } from './authority.ts'
import { turnLeaseTiming } from './claim-turn.ts'
import type { FaultPoint } from './fault-points.ts'
import type { HandedTurn } from './handed-turn.ts'
import type { TurnLease } from './checkpoint-queries.ts'
import { createReservations } from './costs/reservations.ts'
import type { ReservationDeps } from './costs/reservations.ts'
import { createSharedBudget } from './costs/shared-budget.ts'
import { createAttachments } from './prompt/media.ts'
import type { AttachmentDeps } from './prompt/media.ts'
import { createFallbacks } from './steps/fallbacks.ts'
import { createToolRunner } from './steps/tool-runner.ts'
import type { ToolRunnerDeps } from './steps/tool-runner.ts'
import type { LeasedTurn } from './turn-context.ts'
import { createTurnState } from './turn-state.ts'
import type { TurnState } from './turn-state.ts'
import { createTurnWriter } from './turn-writer.ts'
import type { WriterDeps } from './turn-writer.ts'

export type OpenTurnDeps = AuthorityDeps &
  ReservationDeps &
  ToolRunnerDeps &
  WriterDeps &
  AttachmentDeps & {
    config: Pick<Config, 'modelSilenceMs' | 'retention'>
    log: Log
    modelClient: ModelClient
    outputValidator: OutputValidator
    onFaultPoint?: (point: FaultPoint, turnId: string) => void
  }

export interface OpenTurnOptions {
  turn: ClaimedTurn
  lease: TurnLease
  /** The turn's time limit, on the clock of `performance.now()`. */
  deadlineMs: number
  signal: AbortSignal
  handed: HandedTurn | undefined
  onFailure: (reason: Error) => void
}

/** Loads the state that earlier workers stored, and the number of the last stored frame. */
const loadState = async (
  { db }: OpenTurnDeps,
  { orgId }: TurnLease,
  turn: ClaimedTurn,
): Promise<{ state: TurnState; lastSeq: number }> => {
  const { leftOutExchanges } = turn
  const untrustedFrom = turn.untrustedFrom ?? turn.earlierUntrustedFrom
  if (turn.attempts === 1) {
    const initial = { steps: [], calls: [], isInStep: false, untrustedFrom, leftOutExchanges }
    return { state: createTurnState(initial), lastSeq: 0 }
  }
  const [steps, calls, lastSeq, boundary] = await Promise.all([
    callQueries.listSteps(db, orgId, turn.id),
    callQueries.listCalls(db, orgId, turn.id),
    eventQueries.findLastSeq(db, orgId, turn.id),
    eventQueries.findLastStepBoundary(db, orgId, turn.id),
  ])
  // Frames are deleted after a day. Only a turn that waits for a person lasts that long, and it waits inside a step.
  const isInStep = boundary ? endsInsideStep(boundary.frames.split('\n')) : steps.length > 0
  return { state: createTurnState({ steps, calls, isInStep, untrustedFrom, leftOutExchanges }), lastSeq }
}

/** Builds the services of a turn and loads its stored state. */
export const openTurn = async (deps: OpenTurnDeps, options: OpenTurnOptions): Promise<LeasedTurn> => {
  const { turn, lease, deadlineMs, signal, handed, onFailure } = options
  const { orgId } = lease
  const { state, lastSeq } = await loadState(deps, lease, turn)
  const faultPoint = (point: FaultPoint): void => deps.onFaultPoint?.(point, turn.id)
  const { leaseMs } = turnLeaseTiming
  const writer = createTurnWriter(deps, { turn, lease, leaseMs, state, lastSeq, onFailure, faultPoint })
  if (lastSeq === 0) {
    const messageMetadata = { turnId: turn.id, sessionId: turn.sessionId }
    writer.emit({ type: 'start', messageId: turn.replyId, messageMetadata })
  }
  return {
    turn,
    lease,
    limits: { modelSilenceMs: deps.config.modelSilenceMs, leftMs: () => deadlineMs - performance.now() },
    signal,
    state,
    services: {
      log: deps.log,
      authority: createTurnAuthority(deps, orgId, turn, handed?.authority),
      models: deps.modelClient,
      reservations: createReservations(deps, lease, turn, handed?.reserved),
      fallbacks: createFallbacks(deps, orgId, turn, state),
      sharedBudget: createSharedBudget(deps.db, orgId, turn, state),
      toolRunner: createToolRunner(deps, turn, state),
      attachments: createAttachments(deps, { orgId, turnId: turn.id }),
      output: deps.outputValidator,
      writer,
      faultPoint,
    },
  }
}
