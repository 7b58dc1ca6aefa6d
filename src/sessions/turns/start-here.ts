import { randomUUID } from 'node:crypto'
import type { AgentRow } from '../../agents/agents.ts'
import type { ReservedMoney } from '../../billing/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Sql, Transaction } from '../../platform/database/database.ts'
import type { Place } from '../../platform/jobs/jobs.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import { turnStarted } from '../events.ts'
import type { SessionForTurn } from '../queries.ts'
import type { MessageRow } from '../message-queries.ts'
import { turnLeaseTiming } from '../runtime/claim-turn.ts'
import { historyLimits } from '../runtime/handed-turn.ts'
import type { HandedTurn } from '../runtime/handed-turn.ts'
import * as turnQueries from './queries.ts'
import type { HandedRecords, NewTurn } from './queries.ts'
import type { ClaimedTurn } from './claim-queries.ts'

/**
 * Whether a turn may start in this process with the authority of its creator. Not a turn with the authority of someone
 * else's request, such as a message of an agent.
 */
export const mayStartHere = ({ hop = 0, scopes, apiKeyId }: { hop?: number; scopes?: unknown; apiKeyId?: unknown }) =>
  hop === 0 && scopes === undefined && apiKeyId === undefined

interface Start {
  turn: NewTurn
  session: SessionForTurn
  agent: AgentRow
  reserved: ReservedMoney | undefined
  reservation: Sql | undefined
  /** The event of the message, which is recorded with it. */
  message: OutboxRow
}

const expiryOf = ({ apiKey }: Actor): string | null =>
  apiKey === null || apiKey.expiresAtMs === Number.POSITIVE_INFINITY ? null : new Date(apiKey.expiresAtMs).toISOString()

const claimedTurn = (actor: Actor, { turn, session }: Start, records: HandedRecords): ClaimedTurn => {
  const {
    message: _message,
    title: _title,
    callerDigest: _digest,
    replaced: _replaced,
    scopes,
    feeWaiverCents,
    ...columns
  } = turn
  return {
    ...columns,
    scopes: [...scopes],
    feeWaiverCents: BigInt(feeWaiverCents),
    chainId: turn.id,
    hop: 0,
    leftOutExchanges: 0,
    status: 'running',
    stopReason: null,
    error: null,
    attempts: 1,
    restedAttempts: 0,
    workerDeaths: 0,
    workedMs: 0n,
    createdAt: records.createdAt,
    startedAt: records.startedAt,
    claimedAt: records.startedAt,
    endedAt: null,
    workspaceId: workspaceOf(actor),
    projectId: session.projectId,
    relationship: session.relationship,
    chainLeftMs: null,
    keyExpiresAt: expiryOf(actor),
    earlierUntrustedFrom: records.earlierUntrustedFrom,
  }
}

const messageOf = ({ turn, session }: Start, createdAt: string): MessageRow => ({
  ...turn.message,
  sessionId: session.id,
  turnId: turn.id,
  turnNumber: turn.number,
  role: 'user',
  createdAt,
})

const historyOf = (start: Start, { createdAt, history }: HandedRecords): MessageRow[] | undefined =>
  history === null ? undefined : [messageOf(start, createdAt), ...(JSON.parse(history) as MessageRow[])]

const mostTokensInTransaction = 20_000

/**
 * Inserts a turn that this process has claimed and starts it after the commit. It has no job: when the process dies, its
 * lease expires and another worker finds it in active_turns.
 */
export const startHere = async (db: Transaction, place: Place, actor: Actor, start: Start): Promise<void> => {
  db.afterRollback(() => place.release())
  const { turn, agent, reserved, reservation, session } = start
  const { orgId } = actor
  const token = randomUUID()
  const { leaseMs } = turnLeaseTiming
  const claimedAtMs = performance.now()
  // The message of the turn itself is one of them. Much history is read after the commit, because other turns of the org
  // wait for the locks of this transaction.
  const isShort = session.contextTokens <= mostTokensInTransaction
  const history = isShort ? { ...historyLimits, limit: historyLimits.limit - 1 } : undefined
  const events = [start.message, turnStarted({ orgId, workspaceId: session.workspaceId }, turn)]
  const lease = { token, leaseMs, history }
  const records = await turnQueries.insertTurn(db, orgId, turn, { events, reservation, lease })
  if (!records) throw new Error('the insert of the turn returned no row')
  db.afterCommit(() => {
    const handed: HandedTurn = {
      claim: { token, claimedAtMs, row: claimedTurn(actor, start, records) },
      authority:
        records.agentRevision === agent.revision
          ? { agent, actor: { ...actor, apiKey: null, origin: null } }
          : undefined,
      history: historyOf(start, records),
      reserved,
    }
    place.start({ orgId, turnId: turn.id }, handed)
  })
}
