import { findAgent, findLiveAgent, listPeers } from '../../agents/agents.ts'
import type { AgentRow, PeerRow } from '../../agents/agents.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import type { CallingTurn, Tool, ToolContext, ToolSource } from '../../tool.ts'
import * as peerQueries from './queries.ts'
import type { WritingTurn } from './queries.ts'
import { lockSession } from '../queries.ts'
import type { MessagePart } from '../schemas.ts'
import { cancelLockedTurn } from '../turns/cancel.ts'
import { createTurnStreams } from '../streams/turn-streams.ts'
import type { TurnStreams } from '../streams/turn-streams.ts'
import { maxHops } from '../runtime/jobs.ts'
import { findTurnState } from '../turns/queries.ts'
import { authorOfAgent, beginTurn } from '../turns/begin-turn.ts'
import type { TurnDeps } from '../turns/deps.ts'

const maxMessagesInChain = 20
/** What a chain may call models, in times of what its first turn may: 20 messages have room in it, and no more than a few. */
const stepsOfChain = 4
const maxMessagesAMinute = 10
/** Below the time of a tool, so that the agent hears that there is no answer yet. */
const waitMs = 45_000
const lookMs = 1_000

interface Sent {
  turnId: string
  sessionId: string
  /** What the agent that is written to says is somebody else's words. */
  isForeign: boolean
}

/**
 * Whether one agent's words may be somebody else's to another: neither the person for whom both work nor whoever made the
 * other one what it is has made it what it is.
 */
const isForeign = (speaker: AgentRow, listener: AgentRow, { userId }: Actor): boolean =>
  speaker.authorityChangedBy !== userId &&
  (speaker.authorityChangedBy === null || speaker.authorityChangedBy !== listener.authorityChangedBy)

/** The agent that is written to. Its messages tell the writer's model what it may do instead. */
const addressee = async (db: Db, actor: Actor, writer: AgentRow, to: string): Promise<AgentRow> => {
  const target = await findAgent(db, actor, to)
  const slug = target?.slug ?? to
  if (slug === writer.slug) throw validationError('An agent cannot write to itself.')
  if (!writer.allowedPeers.includes(slug)) {
    const allowed = writer.allowedPeers.length === 0 ? 'nobody' : writer.allowedPeers.join(', ')
    throw validationError(`This agent may not write to ${to}. It may write to: ${allowed}.`)
  }
  if (!target) throw validationError(`There is no agent ${to}.`)
  if (!target.isActive) throw validationError(`The agent ${slug} is not active and takes no messages.`)
  return target
}

/**
 * The session of two agents in a workspace and of the person they work for. Agents that answer in a chat of a provider
 * have one for each chat, because the people in two chats must not read each other's messages.
 */
const openPeerSession = async (
  db: Transaction,
  actor: Actor,
  writer: AgentRow,
  target: AgentRow,
  chatId: string | null,
): Promise<string> => {
  const { orgId, userId } = actor
  const workspaceId = workspaceOf(actor)
  const key = [...[writer.id, target.id].toSorted(), userId, ...(chatId === null ? [] : [chatId])].join(':')
  const title = `${writer.name} and ${target.name}`
  const wanted = { id: newId(), workspaceId, key, chatId, agentIds: [target.id, writer.id], title, userId }
  const session =
    (await peerQueries.insertPeerSession(db, orgId, wanted)) ??
    (await peerQueries.findPeerSession(db, orgId, workspaceId, key))
  if (!session) throw validationError('The conversation with this agent was deleted just now. Try again.')
  return session.id
}

/**
 * Locks the session of the turn that writes and that of the pair, always in the same order, so that nobody waits the
 * wrong way round. From then on the turn cannot be cancelled before what it asks for can be seen by whoever does.
 */
const lockBoth = async (db: Transaction, orgId: string, calling: CallingTurn, sessionId: string): Promise<void> => {
  for (const id of [...new Set([calling.sessionId, sessionId])].toSorted()) {
    if (!(await lockSession(db, orgId, id))) throw validationError('The conversation was deleted just now.')
  }
  const state = await findTurnState(db, orgId, calling.id)
  if (state?.status !== 'running') throw validationError('The turn has ended.')
}

/** Takes one message from what is left of the chain, if its limits allow it. */
const joinChain = async (db: Transaction, orgId: string, turn: WritingTurn, leftMs: number): Promise<void> => {
  if (turn.hop >= maxHops) {
    throw validationError(
      `A chain of messages between agents ends after ${maxHops}. Answer with what you know; your answer goes back to who asked.`,
    )
  }
  const limits = {
    leftMs: Math.max(0, leftMs),
    maxMessages: maxMessagesInChain,
    maxSteps: turn.maxSteps * stepsOfChain,
  }
  if (!(await peerQueries.countMessage(db, orgId, turn, limits))) {
    throw validationError(`Agents have exchanged ${maxMessagesInChain} messages about this, and that is the limit.`)
  }
}

/** Writes the message and queues the turn of whoever has to answer it, once for each call. */
const send = (deps: TurnDeps, context: ToolContext, to: string, text: string): Promise<Sent> => {
  const { db, actor, callKey, turn: calling } = context
  const { orgId } = actor
  if (!calling) throw validationError('Agents write to one another only in a chat turn.')
  return db.transaction(actor, async (db) => {
    const turn = await peerQueries.findWritingTurn(db, orgId, calling.id)
    if (!turn) throw notFound('Turn')
    const before = await peerQueries.findTurnOfCall(db, orgId, callKey)
    // Sent by a worker that died: who it is that answers is not looked up again.
    if (before) return { turnId: before.id, sessionId: before.sessionId, isForeign: true }
    const writer = await findLiveAgent(db, orgId, turn.agentId)
    if (!writer) throw notFound('Agent')
    const target = await addressee(db, actor, writer, to)
    await joinChain(db, orgId, turn, calling.leftMs)
    const sessionId = await openPeerSession(db, actor, writer, target, turn.chatId)
    await lockBoth(db, orgId, calling, sessionId)
    if ((await peerQueries.countRecentMessages(db, orgId, sessionId)) >= maxMessagesAMinute) {
      throw validationError(
        `${writer.slug} and ${target.slug} exchange at most ${maxMessagesAMinute} messages a minute.`,
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
    await peerQueries.linkTurn(db, orgId, turnId, turn, callKey)
    return { turnId, sessionId, isForeign: isForeign(target, writer, actor) }
  })
}

const textOf = (parts: MessagePart[] | null): string | null => {
  const text = (parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return text === '' ? null : text
}

/**
 * Waits until a turn has its reply. True when that cannot be before the turn that asked for it has ended. Such a knot may
 * be tied by others meanwhile, so it is looked for again and again.
 */
const waitForReply = async (
  streams: TurnStreams,
  { db, actor, signal, turn }: ToolContext,
  turnId: string,
): Promise<boolean> => {
  const { orgId } = actor
  const endsAtMs = performance.now() + waitMs
  for (;;) {
    if (turn && (await peerQueries.isBehind(db, orgId, turnId, turn.id))) return true
    const leftMs = endsAtMs - performance.now()
    if (leftMs <= 0 || (await streams.waitForEnd({ orgId, turnId }, { timeoutMs: Math.min(leftMs, lookMs), signal })))
      return false
    signal.throwIfAborted()
  }
}

const noteOf = (status: string, isKnotted: boolean): string | undefined => {
  if (isKnotted) return 'It is waiting for what you are part of, so it reads this only afterwards.'
  if (status === 'requires_action') return 'It waits for a person to decide something before it goes on.'
  if (status === 'queued' || status === 'running') return 'It has not answered yet, and does so without you.'
  return undefined
}

export const peerToolName = 'message_peer'

/** A peer as a model is told of it. What another person wrote of it is left out: the model would take it for our words. */
const lineOf = ({ slug, name, description, authorityChangedBy }: PeerRow, userId: string): string =>
  authorityChangedBy === userId ? `- ${slug}: ${description ?? name}` : `- ${slug}`

const messagePeer = (deps: TurnDeps, streams: TurnStreams, peers: PeerRow[], userId: string): Tool => ({
  name: peerToolName,
  description: [
    'Writes to another agent and answers what it replies. It sees your message and what you two wrote before, nothing else.',
    ...peers.flatMap((peer) => (peer.isActive ? [lineOf(peer, userId)] : [])),
  ].join('\n'),
  inputSchema: {
    type: 'object',
    properties: {
      to: { type: 'string', minLength: 1, maxLength: 255, description: 'The slug of the agent' },
      text: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The message' },
      waitForReply: { type: 'boolean', description: 'false: go on without its reply' },
    },
    required: ['to', 'text'],
  },
  isReadOnly: false,
  isRepeatable: true,
  permission: 'sessions:write',
  run: async (context: ToolContext, input: { to: string; text: string; waitForReply?: boolean }) => {
    const { actor, db, turn } = context
    const { turnId, sessionId, isForeign } = await send(deps, context, input.to.trim(), input.text)
    const isKnotted = input.waitForReply !== false && (await waitForReply(streams, context, turnId))
    const answer = await peerQueries.findAnswer(db, actor.orgId, turnId)
    const { status = 'queued', error = null, parts = null } = answer ?? {}
    if (parts !== null && (isForeign || answer?.untrustedFrom)) turn?.noteUntrusted()
    const note = noteOf(status, isKnotted)
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
 * The tool with which an agent writes to those that its `allowedPeers` names. Naming one is what grants it, as naming a
 * connector grants that connector's tools.
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

/** Cancels what a cancelled turn asked of other agents. */
export const cancelPeerTurns = async (
  deps: TurnDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
): Promise<void> => {
  for (const child of await peerQueries.listUnfinishedChildren(deps.db, orgId, turnId)) {
    await deps.db.transaction({ orgId }, async (db) => {
      if (await lockSession(db, orgId, child.sessionId)) await cancelLockedTurn(db, deps, orgId, child.id)
    })
  }
}
