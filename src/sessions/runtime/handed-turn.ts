import type { AgentRow } from '../../agents/agents.ts'
import type { ReservedMoney } from '../../billing/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Claim } from '../../platform/database/lease.ts'
import type { MessageRow } from '../message-queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'

/**
 * A turn that starts in the process that created it, with what its creator has just read or written. Nothing of it is
 * read again: the transaction that created the turn has claimed it.
 */
export interface HandedTurn {
  claim: Claim<ClaimedTurn>
  /** The authority at the creation; undefined when the agent changed meanwhile. */
  authority: { agent: AgentRow; actor: Actor } | undefined
  /** The message of the turn and those of earlier turns, newest first. Undefined when they were not read. */
  history: MessageRow[] | undefined
  /** For the first model call; undefined for a free model. */
  reserved: ReservedMoney | undefined
}

/** The most history that a prompt is made of. It exceeds the context window of every model. */
export const historyLimits = { limit: 200, maxBytes: 4_194_304 }
