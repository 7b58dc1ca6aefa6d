import type { Transaction } from '../../platform/database/database.ts'

/** Who is to answer, and in whose name. */
export interface Answering {
  orgId: string
  workspaceId: string
  userId: string
  agentId: string
}

/** What somebody said in a chat. */
export interface Heard {
  turnId: string
  /** The session of the chat so far; another one begins when it is gone. */
  sessionId: string | null
  title: string
  /** Who said it, as the provider calls them. */
  sender: string
  text: string
}

/**
 * What answers in chats. The agent runtime is an area of its own: this is all that is asked of it, handed over where
 * both are put together.
 */
export interface ChatRuntime {
  /**
   * Begins a turn for what `hear` finds to be said, in the transaction that `hear` is given; `keep` is told the chat's
   * session when it is a new one. False, and nothing is begun, when there is nothing to be said. Throws an ApiError when
   * the agent cannot answer. When the turn has ended, the job `turnEnded` is enqueued with its end.
   */
  beginTurn(
    answering: Answering,
    hear: (db: Transaction) => Promise<Heard | undefined>,
    keep: (db: Transaction, sessionId: string) => Promise<void>,
  ): Promise<boolean>
  /** What a turn came to: its words, none when it failed; undefined while it has not ended. */
  findReply(orgId: string, turnId: string): Promise<{ text: string } | undefined>
}
