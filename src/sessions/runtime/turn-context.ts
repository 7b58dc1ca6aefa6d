import type { Model } from '../../agents/agents.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ModelClient } from '../models/model-client.ts'
import type { ClaimedTurn } from '../turns/queries.ts'
import { AuthorityLost } from './authority.ts'
import type { Authority, TurnAuthority } from './authority.ts'
import type { FaultPoint } from './fault-points.ts'
import type { Exchange } from './prompt/prompt.ts'
import type { TurnLease } from './queries.ts'
import type { Reservations } from './costs/reservations.ts'
import type { SharedBudget } from './costs/shared-budget.ts'
import type { ToolRunner } from './steps/tool-runner.ts'
import type { TurnState } from './turn-state.ts'
import type { TurnWriter } from './turn-writer.ts'

/** What the steps of a turn may do outside of this process. All of it is bound to the turn and its lease. */
export interface TurnServices {
  readonly log: Log
  readonly authority: TurnAuthority
  readonly models: ModelClient
  readonly reservations: Reservations
  readonly sharedBudget: SharedBudget
  readonly toolRunner: ToolRunner
  readonly writer: TurnWriter
  /** For crash tests: does nothing in production. */
  readonly faultPoint: (point: FaultPoint) => void
}

export interface TurnLimits {
  /** How long a model may send nothing. */
  readonly modelSilenceMs: number
  /** What is left of the turn's time. Negative when it is used up. */
  leftMs(): number
}

/** A turn that this worker has the lease of. */
export interface LeasedTurn {
  readonly turn: Readonly<ClaimedTurn>
  readonly lease: TurnLease
  readonly limits: TurnLimits
  /** Aborted when the lease is lost, the turn is cancelled or its time is up. The reason says which. */
  readonly signal: AbortSignal
  /** The only part that changes. */
  readonly state: TurnState
  readonly services: TurnServices
}

/** Everything that a running turn needs. It does not change: authority that is loaded again makes a new context. */
export interface TurnContext extends LeasedTurn, Authority {
  readonly model: Model
  readonly instructions: string
  /** The conversation, newest first. It begins with the message that the turn answers. */
  readonly exchanges: readonly Exchange[]
  /** How much the model is shown at most, instructions and tools included. */
  readonly maxPromptTokens: number
}

/** The reason of the turn's signal when its time is up. */
export class TimeIsUp extends Error {
  constructor() {
    super('the time of the turn is up')
    this.name = 'TimeIsUp'
  }
}

/** The context with the authority that the turn has now. */
export const renewAuthority = async (context: TurnContext): Promise<TurnContext | AuthorityLost> => {
  const authority = await context.services.authority.load()
  return authority instanceof AuthorityLost ? authority : { ...context, ...authority }
}
