import { findAgent, findLiveAgent, listPeers } from '../../agents/agents.ts'
import type { AgentRow, PeerRow } from '../../agents/agents.ts'
import { systemActor, workspaceOf } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { chainOf, inChain } from '../../outbox/chain.ts'
import { recorded } from '../../outbox/record.ts'
import type { Log } from '../../platform/process/log.ts'
import type { CallingTurn, Tool, ToolContext, ToolSource } from '../../tool.ts'
import * as peerQueries from './queries.ts'
import type { WritingTurn } from './queries.ts'
import { sessionCreated } from '../events.ts'
import { lockSession } from '../queries.ts'
import type { MessagePart } from '../schemas.ts'
import { cancelLockedTurn } from '../turns/cancel.ts'
import { createTurnStreams } from '../streams/turn-streams.ts'
import type { TurnStreams } from '../streams/turn-streams.ts'
import { maxPeerDepth } from '../runtime/jobs.ts'
import { findTurnState } from '../turns/claim-queries.ts'
import { authorOfAgent, beginTurn } from '../turns/begin-turn.ts'
import type { TurnDeps } from '../turns/deps.ts'

const maxMessages = 20
/** All turns of a conversation share four times the model calls of its first turn, which is enough for 20 messages. */
const sharedStepsFactor = 4
const maxMessagesPerMinute = 10
/** Shorter than the 60 s limit of a tool, so that the model is told that there is no reply yet. */
const replyTimeoutMs = 45_000
const deadlockCheckMs = 1_000

interface Sent {
  turnId: string
  sessionId: string
  /** Whether the reply is untrusted content for the writer. */
  isForeign: boolean
}

/**
 * Whether a message of one agent is untrusted content for another. It is trusted when the last change of the speaker was
 * made by the person for whom both work, or by the person who last changed the listener.
 */
const isForeign = (speaker: AgentRow, listener: AgentRow, { userId }: Actor): boolean =>
  speaker.authorityChangedBy !== userId &&
  (speaker.authorityChangedBy === null || speaker.authorityChangedBy !== listener.authorityChangedBy)

/** Finds the recipient of a message. The errors tell the writer's model what it can do instead. */
const findRecipient = async (db: Db, actor: Actor, writer: AgentRow, to: string): Promise<AgentRow> => {
  const target = await findAgent(db, actor, to)
  const slug = target?.slug ?? to
  if (slug === writer.slug) throw validationError('An agent cannot write to itself.')
  if (!writer.allowedPeers.includes(slug)) {
    const allowed = writer.allowedPeers.length === 0 ? 'no agents' : writer.allowedPeers.join(', ')
    throw validationError(`This agent may not write to ${to}. It may write to: ${allowed}.`)
  }
  if (!target) throw validationError(`There is no agent ${to}.`)
  if (!target.isActive) throw validationError(`The agent ${slug} is inactive and does not respond.`)
  return target
}

interface Pair {
  writer: AgentRow
  target: AgentRow
  /** The session of the provider's chat in which the writer replies; null when there is none. */
  chatId: string | null
}

/**
 * Finds or creates the session of two agents for the person they work for in a workspace. Agents that reply in a
 * provider's chats have one session per chat, because the people in one chat must not read the messages of another.
 */
const openPeerSession = async (db: Transaction, actor: Actor, { writer, target, chatId }: Pair): Promise<string> => {
  const { orgId, userId } = actor
  const workspaceId = workspaceOf(actor)
  const key = [...[writer.id, target.id].toSorted(), userId, ...(chatId === null ? [] : [chatId])].join(':')
  const title = `${writer.name} and ${target.name}`
  const wanted = { id: newId(), workspaceId, key, chatId, agentIds: [target.id, writer.id], title, userId }
  const created = sessionCreated(systemActor(orgId, writer.name), {
    ...wanted,
    agentId: target.id,
    relationship: 'peer',
  })
  const inserted = await peerQueries.insertPeerSession(db, orgId, wanted, created)
  if (inserted) db.signal(recorded, orgId)
  const session = inserted ?? (await peerQueries.findPeerSession(db, orgId, workspaceId, key))
  if (!session) throw validationError('The conversation with this agent was deleted just now. Try again.')
  return session.id
}

/**
 * Locks the session of the writing turn and that of the pair, always in the order of their ids, so that transactions
 * cannot deadlock. Until the transaction ends, the turn cannot be cancelled, so the job that cancels the turns it started
 * sees the new one.
 */
const lockSessions = async (db: Transaction, orgId: string, calling: CallingTurn, sessionId: string): Promise<void> => {
  for (const id of [...new Set([calling.sessionId, sessionId])].toSorted()) {
    if (!(await lockSession(db, orgId, id))) throw validationError('The conversation was deleted just now.')
  }
  const state = await findTurnState(db, orgId, calling.id)
  if (state?.status !== 'running') throw validationError('The turn has ended.')
}

/** Counts one message in the shared budget of the conversation. VALIDATION_ERROR when the budget is used up. */
const countMessage = async (db: Transaction, orgId: string, turn: WritingTurn, leftMs: number): Promise<void> => {
  if (turn.hop >= maxPeerDepth) {
    throw validationError(
      `Messages between agents go at most ${maxPeerDepth} agents deep. Reply with what you know; your reply goes back to the agent that asked.`,
    )
  }
  const limits = {
    leftMs: Math.max(0, leftMs),
    maxMessages,
    maxSteps: turn.maxSteps * sharedStepsFactor,
  }
  if (!(await peerQueries.countMessage(db, orgId, turn, limits))) {
    throw validationError(`Agents have exchanged ${maxMessages} messages about this, which is the limit.`)
  }
}

/** Stores the message and enqueues the turn that replies to it, once per tool call. */
const send = (deps: TurnDeps, context: ToolContext, to: string, text: string): Promise<Sent> => {
  const { db, actor, callKey, turn: calling } = context
  const { orgId } = actor
  if (!calling) throw validationError('Agents can write to each other only in a turn.')
  return db.transaction(actor, async (db) => {
    const turn = await peerQueries.findWritingTurn(db, orgId, calling.id)
    if (!turn) throw notFound('Turn')
    const before = await peerQueries.findTurnOfCall(db, orgId, callKey)
    // Sent before a crash. The reply counts as untrusted, because the recipient is not loaded again.
    if (before) return { turnId: before.id, sessionId: before.sessionId, isForeign: true }
    const writer = await findLiveAgent(db, orgId, turn.agentId)
    if (!writer) throw notFound('Agent')
    const target = await findRecipient(db, actor, writer, to)
    await countMessage(db, orgId, turn, calling.leftMs)
    const sessionId = await openPeerSession(db, actor, { writer, target, chatId: turn.chatId })
    await lockSessions(db, orgId, calling, sessionId)
    if ((await peerQueries.countRecentMessages(db, orgId, sessionId)) >= maxMessagesPerMinute) {
      throw validationError(
        `${writer.slug} and ${target.slug} exchange at most ${maxMessagesPerMinute} messages a minute.`,
      )
    }
    const turnId = await beginTurn(db, deps, actor, {
      sessionId,
      parts: [{ type: 'text', text }],
      agentId: target.id,
      author: authorOfAgent(writer),
      hop: turn.hop + 1,
      scopes: turn.scopes,
      apiKeyId: turn.apiKeyId,
      maxSteps: turn.maxSteps,
      untrustedFrom: calling.untrustedFrom !== null || isForeign(writer, target, actor) ? ('peer' as const) : null,
      ...(turn.maxCostCents === null ? {} : { maxCostCents: turn.maxCostCents }),
    })
    await peerQueries.linkTurn(db, orgId, turnId, { parent: turn, callKey })
    return { turnId, sessionId, isForeign: isForeign(target, writer, actor) }
  })
}

const textOf = (parts: MessagePart[] | null): string | null => {
  const text = (parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return text === '' ? null : text
}

/**
 * Waits for the end of a turn. Returns true when the turn cannot run before the waiting turn ends, which is a deadlock.
 * Other turns can cause a deadlock at any time, so it is checked every second.
 */
const waitForReply = async (
  streams: TurnStreams,
  { db, actor, signal, turn }: ToolContext,
  turnId: string,
): Promise<boolean> => {
  const { orgId } = actor
  const deadlineMs = performance.now() + replyTimeoutMs
  for (;;) {
    if (turn && (await peerQueries.isDeadlocked(db, orgId, turnId, turn.id))) return true
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) return false
    const timeoutMs = Math.min(leftMs, deadlockCheckMs)
    if (await streams.waitForEnd({ orgId, turnId }, { timeoutMs, signal })) return false
    signal.throwIfAborted()
  }
}

const noteOf = (status: string, isDeadlocked: boolean): string | undefined => {
  if (isDeadlocked) return 'It cannot reply before your turn ends, so it reads this message afterwards.'
  if (status === 'requires_action') return 'It waits for a person’s decision.'
  if (status === 'queued' || status === 'running')
    return 'It has not replied yet. Its reply will be in its session, not here.'
  return undefined
}

export const peerToolName = 'message_peer'

/** A peer in the tool's description. Text of other people is left out, because the model could read it as instructions. */
const lineOf = ({ slug, name, description, authorityChangedBy }: PeerRow, userId: string): string =>
  authorityChangedBy === userId ? `- ${slug}: ${description ?? name}` : `- ${slug}`

const messagePeer = (deps: TurnDeps, streams: TurnStreams, peers: PeerRow[], userId: string): Tool => ({
  name: peerToolName,
  description: [
    'Sends a message to another agent and returns its reply. The agent sees only your message and your earlier messages to each other.',
    ...peers.flatMap((peer) => (peer.isActive ? [lineOf(peer, userId)] : [])),
  ].join('\n'),
  inputSchema: {
    type: 'object',
    properties: {
      to: { type: 'string', minLength: 1, maxLength: 255, description: 'The slug of the agent' },
      text: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The message' },
      waitForReply: { type: 'boolean', description: 'false: continue without waiting for the reply' },
    },
    required: ['to', 'text'],
  },
  isReadOnly: false,
  isRepeatable: true,
  permission: 'sessions:write',
  run: async (context: ToolContext, input: { to: string; text: string; waitForReply?: boolean }) => {
    const { actor, db, turn } = context
    const { turnId, sessionId, isForeign } = await send(deps, context, input.to.trim(), input.text)
    const isDeadlocked = input.waitForReply !== false && (await waitForReply(streams, context, turnId))
    const reply = await peerQueries.findReply(db, actor.orgId, turnId)
    const { status = 'queued', error = null, parts = null } = reply ?? {}
    if (parts !== null && (isForeign || reply?.untrustedFrom)) turn?.noteUntrusted()
    const note = noteOf(status, isDeadlocked)
    return {
      to: input.to.trim(),
      sessionId,
      turnId,
      status,
      reply: textOf(parts),
      ...(error ? { error: error.message } : {}),
      ...(note === undefined ? {} : { note }),
    }
  },
})

/**
 * The tool that sends messages to the agents in `allowedPeers`. A non-empty `allowedPeers` grants the tool, as
 * `allowedConnectors` grants the tools of connectors.
 */
export const createPeerTools = (deps: TurnDeps & { db: Database; log: Log }): ToolSource => {
  const streams = createTurnStreams(deps)
  return {
    offered: async ({ db, actor, agent }) => {
      if (!agent || (agent.allowedPeers.length === 0 && !agent.allowedTools.includes('message_peer'))) return []
      return [messagePeer(deps, streams, await listPeers(db.hot, actor, agent), actor.userId)]
    },
  }
}

const cancelStarted = (
  deps: TurnDeps,
  orgId: string,
  { id, sessionId, ...chain }: Awaited<ReturnType<typeof peerQueries.listUnfinishedDescendants>>[number],
): Promise<void> =>
  deps.db.transaction({ orgId }, async (db) => {
    const session = await lockSession(db, orgId, sessionId)
    if (!session) return
    const author = systemActor(orgId, 'Atrium')
    const { workspaceId } = session
    await inChain(chainOf(chain), () => cancelLockedTurn(db, deps, { author, workspaceId }, id))
  })

/**
 * Cancels the turns that a cancelled turn started by messages to other agents, also through turns that have ended. A turn
 * can write another message and end before it is cancelled, so the turns are read again until there are no others.
 */
export const cancelPeerTurns = async (
  deps: TurnDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
): Promise<void> => {
  const tried = new Set<string>()
  for (;;) {
    const unfinished = await peerQueries.listUnfinishedDescendants(deps.db, orgId, turnId)
    const others = unfinished.filter(({ id }) => !tried.has(id))
    if (others.length === 0) return
    for (const one of others) {
      tried.add(one.id)
      await cancelStarted(deps, orgId, one)
    }
  }
}
