import * as peerQueries from '../peers/queries.ts'
import { ended } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { Run } from './turn-run.ts'

const isInChain = ({ turn, progress }: Run): boolean =>
  turn.hop > 0 || progress.calls.some(({ toolName, status }) => toolName === 'message_peer' && status === 'done')

/**
 * Takes one call of the model from what the turns of a chain share. Answers how the turn ends when nothing is left;
 * undefined when it may go on.
 */
export const takeFromChain = async (run: Run): Promise<Outcome | undefined> => {
  if (!isInChain(run)) return undefined
  const { deps, held, turn } = run
  if (await peerQueries.takeStep(deps.db.hot, held.orgId, turn.chainId)) return undefined
  const chain = await peerQueries.findChain(deps.db.hot, held.orgId, turn.chainId)
  // No chain: its first message was refused, so there is nothing to share.
  if (!chain) return undefined
  if (chain.isLate) return ended('incomplete', 'max_time')
  return ended('incomplete', chain.steps >= chain.maxSteps ? 'max_steps' : 'max_cost')
}
