import type { Database } from '../../../platform/database/database.ts'
import * as peerQueries from '../../peers/queries.ts'
import type { ClaimedTurn, StopReason } from '../../turns/queries.ts'
import type { TurnState } from '../turn-state.ts'

/** What all turns of a conversation between agents may use together: model calls, money and time. */
export interface SharedBudget {
  /** Takes one model call from it. Returns why the turn ends when nothing is left; undefined when it may go on. */
  takeCall(): Promise<StopReason | undefined>
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
    takeCall: async () => {
      if (!isShared()) return undefined
      if (await peerQueries.takeSharedCall(db.hot, orgId, chainId)) return undefined
      const budget = await peerQueries.findSharedBudget(db.hot, orgId, chainId)
      // The first message was rejected, so no other turn takes part.
      if (!budget) return undefined
      if (budget.isLate) return 'max_time'
      return budget.steps >= budget.maxSteps ? 'max_steps' : 'max_cost'
    },
  }
}
