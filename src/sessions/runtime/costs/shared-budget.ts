import type { Database } from '../../../platform/database/database.ts'
import * as peerQueries from '../../peers/queries.ts'
import type { StopReason } from '../../turns/queries.ts'
import type { ClaimedTurn } from '../../turns/claim-queries.ts'
import type { TurnState } from '../turn-state.ts'

/** The limits that all turns of a conversation between agents share: model calls, money and time. */
export interface SharedBudget {
  /** Counts one model call. Returns the reached limit; undefined when the call may be made. */
  countCall(): Promise<StopReason | undefined>
}

export const createSharedBudget = (
  db: Database,
  orgId: string,
  { hop, chainId }: Pick<ClaimedTurn, 'hop' | 'chainId'>,
  state: Pick<TurnState, 'calls'>,
): SharedBudget => {
  const isShared = (): boolean =>
    hop > 0 || state.calls.some(({ toolName, status }) => toolName === 'message_peer' && status === 'done')
  return {
    countCall: async () => {
      if (!isShared()) return undefined
      if (await peerQueries.countSharedCall(db.hot, orgId, chainId)) return undefined
      const budget = await peerQueries.findSharedBudget(db.hot, orgId, chainId)
      // The first message was rejected, so no other turn takes part.
      if (!budget) return undefined
      if (budget.isLate) return 'max_time'
      return budget.steps >= budget.maxSteps ? 'max_steps' : 'max_cost'
    },
  }
}
