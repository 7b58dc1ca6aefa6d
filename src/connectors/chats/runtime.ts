import type { EventChain } from '../../outbox/chain.ts'
import type { Transaction } from '../../platform/database/database.ts'

/** The agent that replies, and the user and workspace it acts for. */
export interface ChatAgent {
  orgId: string
  workspaceId: string
  userId: string
  agentId: string
  /** The endpoint that received the message. */
  endpointId: string
}

/** A message that someone sent in a chat. */
export interface ReceivedMessage {
  turnId: string
  /** The chat's session. Null for a new chat. A deleted session is replaced by a new one. */
  sessionId: string | null
  title: string
  /** The sender's name at the provider. */
  sender: string
  text: string
  /** The chain of events that the turn continues. */
  chain: EventChain | undefined
}

/**
 * The functions of the agent runtime that chats use. The modules do not import each other; the composition root
 * connects them.
 */
export interface ChatRuntime {
  /**
   * Starts a turn for the message that `nextMessage` returns, in the same transaction. `saveSession` stores the session
   * when it is a new one. False when there is no message. Throws an ApiError when the agent cannot reply. At the end of
   * the turn, its last transaction enqueues the job `connector.turn-ended`.
   */
  beginTurn(
    agent: ChatAgent,
    nextMessage: (db: Transaction) => Promise<ReceivedMessage | undefined>,
    saveSession: (db: Transaction, sessionId: string) => Promise<void>,
  ): Promise<boolean>
  /** The text of a turn, empty when it failed. Undefined while the turn is running. */
  findReply(orgId: string, turnId: string): Promise<{ text: string } | undefined>
}
