import { giveConsent } from '../../agents/consents/consents.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { recordEvent } from '../../outbox/record.ts'
import { ApiError, badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { keyOfForm, readAnswer } from '../../tool-form.ts'
import type { Form } from '../../tool-form.ts'
import * as queries from '../queries.ts'
import { resumeTurn } from '../runtime/queries.ts'
import { digestOfJson } from '../../platform/text/digest.ts'
import { kindOf, decisionRejection } from '../runtime/steps/questions.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import { continueTurn, enqueueTurn } from './continue-turn.ts'
import type { TurnDeps } from './deps.ts'
import type { Decision } from './input.ts'
import * as callQueries from './call-queries.ts'
import * as turnQueries from './queries.ts'
import type { TurnRow } from './queries.ts'
import type { CallRow } from './call-queries.ts'
import { getTurnRow } from './turns.ts'

interface LockedTurn {
  turn: TurnRow
  calls: CallRow[]
}

interface NewDecision extends Decision {
  call: CallRow
}

/** CONFLICT for another answer than the one that the call has. */
const checkRepeated = ({ question }: CallRow, form: Form, answer: NonNullable<Decision['answer']>): void => {
  const stored = question?.answers?.find(({ key }) => key === keyOfForm(form))
  if (stored && digestOfJson(stored.answer) !== digestOfJson(readAnswer(form, answer))) {
    throw conflict('This question was already answered differently.')
  }
}

/** Applies decisions to the calls in memory and returns those that are new. Throws like `decide`. */
const applyDecisions = (actor: Actor, { turn, calls }: LockedTurn, decisions: Decision[]): NewDecision[] =>
  decisions.flatMap(({ approvalId, approved, answer }) => {
    const call = calls.find((one) => one.approvalId === approvalId)
    if (!call) throw notFound('Approval')
    const reason = decisionRejection(actor, turn, call)
    if (reason !== undefined) throw forbidden(reason)
    const form = call.question?.kind === 'input' ? call.question.form : undefined
    if (call.approved === approved) {
      if (approved && form && answer !== undefined) checkRepeated(call, form, answer)
      return []
    }
    if (call.approved !== null) throw conflict('This approval was already decided with the opposite result.')
    if (turn.status !== 'requires_action') throw conflict('The turn is no longer waiting for a decision.')
    if (answer !== undefined && (!form || !approved))
      throw badRequest('answer is only for an approved request for input')
    if (form && approved && call.question) {
      const given = { key: keyOfForm(form), answer: readAnswer(form, answer ?? {}) }
      call.question = { ...call.question, answers: [...(call.question.answers ?? []), given] }
    }
    call.approved = approved
    return [{ approvalId, approved, call }]
  })

/** The agent has changed since a person was asked for consent to it. */
class OutdatedConsentRequest extends Error {}

/**
 * Stores the consents that are part of the decisions. Returns further decisions: the calls that wait for the same consent
 * and for nothing else. Throws OutdatedConsentRequest when the agent has changed since the person was asked.
 */
const storeConsents = async (
  db: Transaction,
  actor: Actor,
  { turn, calls }: LockedTurn,
  decisions: NewDecision[],
): Promise<NewDecision[]> => {
  const given = new Set<string>()
  for (const { approved, call } of decisions) {
    const { question } = call
    if (!approved || question?.kind !== 'consent' || question.connector === null) continue
    if (given.has(question.connector)) continue
    given.add(question.connector)
    const { connector: connectorSlug, authorityVersion: shownVersion } = question
    await giveConsent(db, actor, { agentId: turn.agentId, connectorSlug, shownVersion }).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'CONFLICT' ? new OutdatedConsentRequest() : error
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

const recordDecision = async (
  db: Transaction,
  actor: Actor,
  { turn, workspaceId }: { turn: TurnRow; workspaceId: string },
  { approvalId, approved, call }: NewDecision,
): Promise<void> => {
  await audit(db, actor, 'turn.approval-decided', {
    type: 'turn',
    id: turn.id,
    details: {
      approvalId,
      approved,
      kind: kindOf(call),
      tool: call.toolName,
      argumentsSha256: digestOfJson(call.input),
      agentId: turn.agentId,
      forUserId: turn.userId,
    },
  })
  const { id: turnId, sessionId, agentId } = turn
  await recordEvent(db, actor, 'turn.approval_decided', {
    subjectId: sessionId,
    workspaceId,
    data: { turnId, sessionId, agentId, approvalId, approved, tool: call.toolName },
  })
}

const streamPartsOf = ({ approvalId, approved, call }: NewDecision): StreamPart[] => [
  { type: 'tool-approval-response', approvalId, approved },
  ...(approved ? [] : [{ type: 'tool-output-denied', toolCallId: call.callId } as const]),
]

/** Gives a waiting turn back to a worker, which asks again for everything that is undecided. */
const askAgain = (deps: TurnDeps, orgId: string, { id: turnId, sessionId }: TurnRow): Promise<void> =>
  deps.db.transaction({ orgId }, async (db) => {
    const session = await queries.lockSession(db, orgId, sessionId)
    const turn = session && (await turnQueries.lockTurn(db, orgId, turnId))
    if (turn?.status !== 'requires_action') return
    await resumeTurn(db, { orgId, turnId, frames: undefined, isReady: true })
    await enqueueTurn(db, deps, orgId, turn)
  })

/**
 * Stores a person's decisions whether calls run: all of them or, when one is rejected, none. After the last decision the
 * turn continues. CONFLICT when a call was decided differently before, NOT_FOUND for an unknown approval, FORBIDDEN for
 * a person who may not decide. When the agent has changed since the request for consent, throws CONFLICT and requests it
 * again.
 */
export const decide = async (deps: TurnDeps, actor: Actor, turnId: string, decisions: Decision[]): Promise<void> => {
  const { db } = deps
  const { orgId } = actor
  const found = await getTurnRow(db.hot, actor, turnId)
  const deciding = db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, orgId, found.sessionId)
    const turn = session && (await turnQueries.lockTurn(db, orgId, turnId))
    if (!session || !turn) throw notFound('Turn')
    const calls = await callQueries.listCalls(db, orgId, turnId)
    const explicit = applyDecisions(actor, { turn, calls }, decisions)
    if (explicit.length === 0) return
    const decided = [...explicit, ...(await storeConsents(db, actor, { turn, calls }, explicit))]
    for (const decision of decided) {
      await callQueries.decideCall(db, orgId, turnId, { ...decision, question: decision.call.question })
      await recordDecision(db, actor, { turn, workspaceId: session.workspaceId }, decision)
    }
    const isReady = calls.every(({ approvalId, approved }) => approvalId === null || approved !== null)
    await continueTurn(db, deps, orgId, { turn, parts: decided.flatMap(streamPartsOf), isReady })
  })
  await deciding.catch(async (error: unknown) => {
    if (!(error instanceof OutdatedConsentRequest)) throw error
    await askAgain(deps, orgId, found)
    throw conflict('The agent has changed since your consent was requested. It is requested again for the new version.')
  })
}
