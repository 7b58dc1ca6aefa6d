import type { FinishReason, ModelFailure } from '../../models/model-client.ts'
import type { ErrorDetail } from '../../turns/queries.ts'
import type { AuthorityLost } from '../authority.ts'
import type { EndedStep } from '../checkpoint-queries.ts'
import type { RequestedCall } from './model-response.ts'

/** The reply does not match the format of the turn. */
export class OutputInvalid extends Error {
  readonly detail: ErrorDetail
  /** False when another reply would fail as well. */
  readonly isRepairable: boolean

  constructor(message: string, isRepairable: boolean) {
    super(message)
    this.name = 'OutputInvalid'
    this.detail = { code: 'output_invalid', message }
    this.isRepairable = isRepairable
  }
}

/** How a step ended. */
export interface StepOutcome {
  /** The last model call of the step if it is not stored yet; undefined when all calls are stored. */
  ended: EndedStep | undefined
  calls: RequestedCall[]
  /** `cost`: there was not enough money for the call. */
  finish: FinishReason | ModelFailure | OutputInvalid | AuthorityLost | 'time' | 'cost'
}
