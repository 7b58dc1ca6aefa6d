import type { Model } from '../../agents/agents.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ModelClient } from '../models/model-client.ts'
import type { OutputValidator } from '../output/validator.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import { AuthorityLost } from './authority.ts'
import type { AgentAuthority, TurnAuthority } from './authority.ts'
import type { FaultPoint } from './fault-points.ts'
import type { Attachments } from './prompt/media.ts'
import type { Exchange } from './prompt/prompt.ts'
import type { TurnLease } from './checkpoint-queries.ts'
import type { Reservations } from './costs/reservations.ts'
import type { SharedBudget } from './costs/shared-budget.ts'
import type { Fallbacks } from './steps/fallbacks.ts'
import type { ToolRunner } from './steps/tool-runner.ts'
import type { TurnState } from './turn-state.ts'
import type { TurnWriter } from './turn-writer.ts'

/** The services through which the steps of a turn act outside of the process. Each is bound to the turn and its lease. */
export interface TurnServices {
  readonly log: Log
  readonly authority: TurnAuthority
  readonly models: ModelClient
  readonly reservations: Reservations
  readonly fallbacks: Fallbacks
  readonly sharedBudget: SharedBudget
  readonly toolRunner: ToolRunner
  readonly attachments: Attachments
  readonly output: OutputValidator
  readonly writer: TurnWriter
  /** For crash tests. Does nothing in production. */
  readonly faultPoint: (point: FaultPoint) => void
}

export interface TurnLimits {
  /** How long a model call may send no event, in milliseconds. */
  readonly modelSilenceMs: number
  /** The turn's remaining time in milliseconds. Negative after the time limit. */
  leftMs(): number
}

/** A turn whose lease this worker holds. */
export interface LeasedTurn {
  readonly turn: Readonly<ClaimedTurn>
  readonly lease: TurnLease
  readonly limits: TurnLimits
  /** Aborted with the reason when the lease is lost, the turn is cancelled or its time limit is reached. */
  readonly signal: AbortSignal
  /** The only mutable part. */
  readonly state: TurnState
  readonly services: TurnServices
}

/** Everything that a running turn needs. Immutable: reloaded authority creates a new context. */
export interface TurnContext extends LeasedTurn, AgentAuthority {
  /** The turn's own model. */
  readonly model: Model
  readonly instructions: string
  /** The conversation, newest first. The first exchange is that of the turn's own message. */
  readonly exchanges: readonly Exchange[]
}

/** The abort reason of the turn's signal at the time limit. */
export class TimeIsUp extends Error {
  constructor() {
    super('the time of the turn is up')
    this.name = 'TimeIsUp'
  }
}

/** Reloads the turn's authority. Returns a new context, or AuthorityLost. */
export const renewAuthority = async (context: TurnContext): Promise<TurnContext | AuthorityLost> => {
  const authority = await context.services.authority.load()
  return authority instanceof AuthorityLost ? authority : { ...context, ...authority }
}
