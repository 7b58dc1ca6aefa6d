import { findLiveAgent, getAgent } from '../../agents/agents.ts'
import type { AgentRow, Model, ModelCatalog } from '../../agents/agents.ts'
import { admitTurn, findProviderKey } from '../../billing/billing.ts'
import type { Billing } from '../../billing/billing.ts'
import { getContent, isOwnName } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import { giveConsent } from '../../agents/consents/consents.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { ApiError, conflict, forbidden, notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { abandonTurn } from './cancel.ts'
import * as checkpointQueries from '../runtime/checkpoint-queries.ts'
import * as eventQueries from '../streams/event-queries.ts'
import type { Frame } from '../streams/frames.ts'
import { planCall } from '../runtime/metering.ts'
import { estimateTokens } from '../runtime/prompt.ts'
import { digestOfArguments, kindOf, whyNotDecide } from '../runtime/questions.ts'
import type { UntrustedSource } from '../runtime/questions.ts'
import * as queries from '../queries.ts'
import type { Author, MessagePart } from '../schemas.ts'
import { requireSession } from '../sessions.ts'
import type { TurnHub } from '../streams/turn-hub.ts'
import type { Decision } from './input.ts'
import { runTurn } from '../runtime/job.ts'
import * as turnQueries from './queries.ts'
import type { CallRow, TurnRow } from './queries.ts'
import { maxSteps } from './schemas.ts'
import type { TurnCreate } from './schemas.ts'

export interface TurnDeps {
  /** That of the request, when there is one: its idempotency key joins the transaction. */
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  models: ModelCatalog
  hub: TurnHub
  billing: Pick<Billing, 'config'>
}

export const authorOfAgent = ({ id, slug, name, avatar }: AgentRow): Author => ({
  type: 'agent',
  id,
  slug,
  name,
  avatar,
})

const usableModel = (models: ModelCatalog, agent: AgentRow): Model & { pricing: NonNullable<Model['pricing']> } => {
  const model = models.find(agent.model)
  if (!model) throw validationError(`The agent's model ${agent.model} is not configured on this server.`)
  const { pricing } = model
  if (!model.available || pricing === null) {
    throw validationError(`The agent's model ${agent.model} cannot be used: ${model.unavailableReason}`)
  }
  return { ...model, pricing }
}

/** The agent that is to answer: the one that the body names, else the session's own. */
const answeringAgent = async (db: Db, actor: Actor, named: string | undefined, own: string): Promise<AgentRow> => {
  const agent = named === undefined ? await findLiveAgent(db, actor.orgId, own) : await getAgent(db, actor, named)
  if (!agent) throw validationError('The agent of this session was deleted. Name another one by agentId.')
  if (!agent.isActive) throw validationError(`The agent ${agent.name} is not active.`)
  return agent
}

const filePart = async (db: Database, actor: Actor, fileId: string): Promise<MessagePart> => {
  if (!actor.permissions.has('files:read')) throw notFound('File')
  const { name, mimeType, sizeBytes } = await getContent(db.hot, actor.orgId, fileId)
  return { type: 'file', fileId, name, mimeType, sizeBytes }
}

const maxTitle = 80

const titleOf = (text: string): string | null => {
  const line = [...(text.trim().split('\n', 1)[0] ?? '').trim()]
  if (line.length === 0) return null
  return line.length > maxTitle ? `${line.slice(0, maxTitle - 1).join('')}…` : line.join('')
}

/** Ends everything that is unfinished in a session, which must be locked. */
export const abandonTurns = async (
  db: Transaction,
  deps: TurnDeps,
  orgId: string,
  sessionId: string,
): Promise<number> => {
  const unfinished = await turnQueries.listUnfinished(db, orgId, sessionId)
  // The last one first, or each that ends would call up the next.
  for (const { id } of unfinished.toReversed()) await abandonTurn(db, deps, orgId, id)
  return unfinished.length
}

const makeRoom = async (
  db: Transaction,
  deps: TurnDeps,
  orgId: string,
  session: queries.LockedSession,
  onBusy: NonNullable<TurnCreate['onBusy']>,
): Promise<queries.LockedSession> => {
  if (session.activeTurnId === null || onBusy === 'enqueue') return session
  if (onBusy === 'reject') throw conflict('A turn of this session is under way.')
  await abandonTurns(db, deps, orgId, session.id)
  const freed = await queries.lockSession(db, orgId, session.id)
  if (!freed) throw notFound('Session')
  return freed
}

/** What a person says to begin a turn, as it is stored. NOT_FOUND for a file that is not there, or not theirs to read. */
export const partsToSay = async (
  db: Database,
  actor: Actor,
  said: { text: string; fileIds: string[] },
): Promise<MessagePart[]> => {
  const files = await Promise.all(said.fileIds.map((id) => filePart(db, actor, id)))
  return said.text.trim() === '' ? files : [{ type: 'text', text: said.text }, ...files]
}

interface AskedOptions {
  agentId?: TurnCreate['agentId'] | undefined
  maxSteps?: TurnCreate['maxSteps'] | undefined
  maxCostCents?: TurnCreate['maxCostCents'] | undefined
  onBusy?: TurnCreate['onBusy'] | undefined
}

export interface TurnOptions extends AskedOptions {
  /** Of the turn; made when left out. */
  id?: string
  /** Added to the agent's own. */
  instructions?: string | null
  maxOutputTokens?: number | null
  /** How many messages between agents it is away from the turn that a person began. */
  hop?: number
  /** Who speaks; the actor when left out. */
  author?: Author
  /** What the turn may do of what its person may; those of the actor's key when left out. */
  scopes?: readonly string[]
  /** With which the turn stands and falls; the actor's own when left out. */
  apiKeyId?: string | null
  /** What finds the turn again, for a caller who knows no id of ours. */
  callerDigest?: Buffer | null
  /** Where what is said comes from, when that is not to be trusted; null for the actor's own words. */
  untrustedFrom?: UntrustedSource | null
}

/** FORBIDDEN for a turn that would read what agents wrote to each other for somebody else. */
const requireOwnPeerSession = ({ relationship, peerKey, createdBy }: queries.LockedSession, userId: string): void => {
  if (relationship !== 'peer') return
  if (peerKey === null) throw forbidden('This conversation between agents is closed. It can only be read.')
  if (createdBy !== userId) {
    throw forbidden('Only the person for whom these agents work can continue this conversation.')
  }
}

const textOf = (parts: MessagePart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** The smaller of two limits, either of which may not be set. */
const smallest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/**
 * Begins a turn: its row, what was said, and its job, in the caller's transaction. Answers its id. VALIDATION_ERROR for
 * an agent or a model that cannot answer now, CONFLICT when the session is busy and the options say `reject`,
 * PAYMENT_REQUIRED when there is no money for the model.
 */
export const beginTurn = async (
  db: Transaction,
  deps: TurnDeps,
  actor: Actor,
  sessionId: string,
  parts: MessagePart[],
  options: TurnOptions,
): Promise<string> => {
  const { jobs, models, billing } = deps
  const { orgId, userId, userName } = actor
  const author: Author = options.author ?? { type: 'user', id: userId, name: userName }
  const turnId = options.id ?? newId()
  const locked = await queries.lockSession(db, orgId, sessionId)
  if (locked?.workspaceId !== workspaceOf(actor)) throw notFound('Session')
  requireOwnPeerSession(locked, userId)
  const agent = await answeringAgent(db, actor, options.agentId, locked.agentId)
  const model = usableModel(models, agent)
  const session = await makeRoom(db, deps, orgId, locked, options.onBusy ?? 'enqueue')
  const { bps: feeBps, waiverCents: feeWaiverCents } = billing.config.fee
  const providerKeyId = await findProviderKey(db, billing.config, orgId, model.provider)
  const price = { id: turnId, pricing: model.pricing, feeBps, feeWaiverCents, providerKeyId }
  const inputTokens = estimateTokens([agent.systemPrompt, options.instructions, parts])
  const maxOutputTokens = smallest(options.maxOutputTokens ?? null, model.maxOutputTokens)
  await admitTurn(db, billing.config.isEnforced, planCall(orgId, price, agent, { inputTokens, maxOutputTokens }))
  await turnQueries.insertTurn(db, orgId, {
    id: turnId,
    sessionId,
    number: session.turnCount + 1,
    agentId: agent.id,
    author: authorOfAgent(agent),
    userId,
    scopes: options.scopes ?? actor.apiKey?.scopes ?? [],
    apiKeyId: options.apiKeyId === undefined ? (actor.apiKey?.id ?? null) : options.apiKeyId,
    model: model.id,
    pricing: model.pricing,
    maxSteps: options.maxSteps ?? maxSteps,
    maxCostCents: options.maxCostCents ?? null,
    feeBps,
    feeWaiverCents,
    providerKeyId,
    instructions: options.instructions ?? null,
    maxOutputTokens: options.maxOutputTokens ?? null,
    callerDigest: options.callerDigest ?? null,
    untrustedFrom: options.untrustedFrom ?? null,
    replyId: newId(),
    message: { id: newId(), position: session.messageCount + 1, author, parts },
    title: titleOf(textOf(parts)),
  })
  const isNew = (id: string): boolean => !session.participantIds.includes(id)
  const isPerson = author.type === 'user'
  if (isPerson && (isNew(agent.id) || isNew(userId)))
    await queries.addParticipants(db, orgId, sessionId, agent.id, userId)
  if (session.activeTurnId === null) await jobs.enqueue(db, runTurn(options.hop ?? 0), { orgId, turnId })
  return turnId
}

/** Whose turn is to be gone on with. VALIDATION_ERROR unless a limit ended the last turn of the session. */
const agentToContinue = async (db: Database, actor: Actor, sessionId: string): Promise<string> => {
  await requireSession(db.hot, actor, sessionId)
  const last = await turnQueries.findLastTurn(db, actor.orgId, sessionId)
  if (last?.status !== 'incomplete') {
    throw validationError('There is nothing to go on with: the last turn of this session is not incomplete.')
  }
  return last.agentId
}

/** Begins a turn in a transaction of its own. */
export const createTurn = async (
  deps: TurnDeps,
  actor: Actor,
  sessionId: string,
  said: { text: string; fileIds: string[]; isContinued?: boolean },
  { agentId, maxSteps, maxCostCents, onBusy }: AskedOptions,
): Promise<string> => {
  const continued = said.isContinued === true ? await agentToContinue(deps.db, actor, sessionId) : undefined
  const parts = await partsToSay(deps.db, actor, said)
  // One by one: a body that came in may have any other field, too.
  const areOwn = await Promise.all(said.fileIds.map((id) => isOwnName(deps.db, actor, id)))
  const untrustedFrom = areOwn.includes(false) ? ('file' as const) : null
  const options = { agentId: agentId ?? continued, maxSteps, maxCostCents, onBusy, untrustedFrom }
  return deps.db.transaction(actor, (db) => beginTurn(db, deps, actor, sessionId, parts, options))
}

/** Cancels a turn. False when it had ended before. */
export const cancelTurn = async (deps: TurnDeps, actor: Actor, turnId: string): Promise<boolean> => {
  const { db } = deps
  const turn = await getTurnRow(db.hot, actor, turnId)
  return db.transaction(actor, async (db) => {
    if (!(await queries.lockSession(db, actor.orgId, turn.sessionId))) throw notFound('Turn')
    return abandonTurn(db, deps, actor.orgId, turnId)
  })
}

/** Cancels the turn that is under way in a session, and those that wait behind it. False when there is none. */
export const cancelSession = async (deps: TurnDeps, actor: Actor, sessionId: string): Promise<boolean> => {
  const { db } = deps
  await requireSession(db.hot, actor, sessionId)
  return db.transaction(actor, async (db) => {
    if (!(await queries.lockSession(db, actor.orgId, sessionId))) throw notFound('Session')
    return (await abandonTurns(db, deps, actor.orgId, sessionId)) > 0
  })
}

export const getTurnRow = async (db: Db, actor: Actor, id: string): Promise<TurnRow> => {
  const turn = await turnQueries.findTurn(db, actor, workspaceOf(actor), id)
  if (!turn) throw notFound('Turn')
  return turn
}

/** The turn whose move it is in a session. Undefined when there is none. */
export const findActiveTurn = async (db: Db, actor: Actor, sessionId: string): Promise<TurnRow | undefined> => {
  const { activeTurnId } = await requireSession(db, actor, sessionId)
  return activeTurnId === null ? undefined : getTurnRow(db, actor, activeTurnId)
}

interface NewDecision extends Decision {
  call: CallRow
}

/** Notes decisions in a turn's calls, and answers which of them are new. Throws like `decide`. */
const takeDecisions = (actor: Actor, turn: TurnRow, calls: CallRow[], decisions: Decision[]): NewDecision[] =>
  decisions.flatMap(({ approvalId, approved }) => {
    const call = calls.find((one) => one.approvalId === approvalId)
    if (!call) throw notFound('Approval')
    const refusal = whyNotDecide(actor, turn, call)
    if (refusal !== undefined) throw forbidden(refusal)
    if (call.approved === approved) return []
    if (call.approved !== null) throw conflict('This was decided already, and otherwise.')
    if (turn.status !== 'requires_action') throw conflict('The turn does not wait for a decision any more.')
    call.approved = approved
    return [{ approvalId, approved, call }]
  })

/** The agent has changed since a person was asked for consent to it. */
class OutdatedQuestion extends Error {}

/**
 * Stores the consents that are given with decisions. Answers further decisions: the calls that wait for the same consent
 * and for nothing else. Throws OutdatedQuestion when the agent is not any more what the person was shown.
 */
const takeConsents = async (
  db: Transaction,
  actor: Actor,
  turn: TurnRow,
  calls: CallRow[],
  decided: NewDecision[],
): Promise<NewDecision[]> => {
  const given = new Set<string>()
  for (const { approved, call } of decided) {
    const { question } = call
    if (!approved || question?.kind !== 'consent' || question.connector === null) continue
    if (given.has(question.connector)) continue
    given.add(question.connector)
    const { connector: connectorSlug, authorityVersion: shownVersion } = question
    await giveConsent(db, actor, { agentId: turn.agentId, connectorSlug, shownVersion }).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'CONFLICT' ? new OutdatedQuestion() : error
    })
  }
  return calls.flatMap((call) => {
    const { approvalId, question } = call
    const isCovered = question?.kind === 'consent' && !question.needsApproval && given.has(question.connector ?? '')
    if (approvalId === null || call.approved !== null || !isCovered) return []
    call.approved = true
    return [{ approvalId, approved: true, call }]
  })
}

const auditDecision = (db: Transaction, actor: Actor, turn: TurnRow, { approvalId, approved, call }: NewDecision) =>
  audit(
    db,
    actor,
    'turn.approval-decided',
    { type: 'turn', id: turn.id },
    {
      approvalId,
      approved,
      kind: kindOf(call),
      tool: call.toolName,
      argumentsSha256: digestOfArguments(call.input),
      agentId: turn.agentId,
      forUserId: turn.userId,
    },
  )

const framesOf = ({ approvalId, approved, call }: NewDecision): Frame[] => [
  { type: 'tool-approval-response', approvalId, approved },
  ...(approved ? [] : [{ type: 'tool-output-denied', toolCallId: call.callId } as const]),
]

/** Gives a turn back to a worker, which asks anew what is undecided. */
const askAnew = ({ db, jobs }: TurnDeps, orgId: string, sessionId: string, turnId: string): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    const session = await queries.lockSession(db, orgId, sessionId)
    const turn = session && (await turnQueries.lockTurn(db, orgId, turnId))
    if (turn?.status !== 'requires_action') return
    await checkpointQueries.resumeTurn(db, orgId, turnId, undefined, true)
    await turnQueries.setSessionStatus(db, orgId, sessionId, 'running')
    await jobs.enqueue(db, runTurn(turn.hop), { orgId, turnId })
  })

/**
 * Takes a person's decisions about calls: run them, or not. All of them or, when one is refused, none. When the last one
 * is taken the turn goes on. CONFLICT when it was decided otherwise before, NOT_FOUND when nothing of that id was asked,
 * FORBIDDEN for who is not the one to decide. A consent to an agent that has changed since is CONFLICT and asked for anew.
 */
export const decide = async (deps: TurnDeps, actor: Actor, turnId: string, decisions: Decision[]): Promise<void> => {
  const { db, jobs, hub } = deps
  const { orgId } = actor
  const { sessionId } = await getTurnRow(db.hot, actor, turnId)
  const deciding = db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, orgId, sessionId)
    const turn = session && (await turnQueries.lockTurn(db, orgId, turnId))
    if (!turn) throw notFound('Turn')
    const calls = await turnQueries.listCalls(db, orgId, turnId)
    const named = takeDecisions(actor, turn, calls, decisions)
    if (named.length === 0) return
    const decided = [...named, ...(await takeConsents(db, actor, turn, calls, named))]
    for (const decision of decided) {
      await turnQueries.decideCall(db, orgId, turnId, decision.approvalId, decision.approved)
      await auditDecision(db, actor, turn, decision)
    }
    const isReady = calls.every(({ approvalId, approved }) => approvalId === null || approved !== null)
    const lines = decided.flatMap(framesOf).map((frame) => JSON.stringify(frame))
    const firstSeq = (await eventQueries.findLastSeq(db, orgId, turnId)) + 1
    const said = { lastSeq: firstSeq + lines.length - 1, lines: lines.join('\n') }
    await checkpointQueries.resumeTurn(db, orgId, turnId, said, isReady)
    if (isReady) {
      await turnQueries.setSessionStatus(db, orgId, sessionId, 'running')
      await jobs.enqueue(db, runTurn(turn.hop), { orgId, turnId })
    }
    db.afterCommit(() => hub.publish(turnId, { firstSeq, lines, isResting: !isReady }))
  })
  await deciding.catch(async (error: unknown) => {
    if (!(error instanceof OutdatedQuestion)) throw error
    await askAnew(deps, orgId, sessionId, turnId)
    throw conflict('The agent has changed since you were asked. You are asked again, with the new change.')
  })
}
