import { currentChain } from '../../outbox/chain.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { turnJob } from '../runtime/jobs.ts'
import { resumeTurn } from '../runtime/queries.ts'
import * as eventQueries from '../streams/queries.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import type { CallerTools } from './caller-tools/schemas.ts'
import type { TurnDeps } from './deps.ts'
import * as turnQueries from './queries.ts'
import type { TurnRow } from './queries.ts'

/** Makes a turn that waited available to workers. */
export const enqueueTurn = async (
  db: Transaction,
  { jobs }: Pick<TurnDeps, 'jobs'>,
  orgId: string,
  turn: TurnRow,
): Promise<void> => {
  await turnQueries.setSessionStatus(db, orgId, turn.sessionId, 'running')
  await turnQueries.activateTurn(db, orgId, turn.sessionId, turn.id)
  await jobs.enqueue(db, turnJob(turn.hop), { orgId, turnId: turn.id }, { member: turnQueries.memberOf(turn) })
}

interface Continuation {
  turn: TurnRow
  parts: StreamPart[]
  /** Whether the turn waits for nothing more. */
  isReady: boolean
  /** The source of the content that was given; null when it is trusted. */
  untrustedFrom?: string | null
  /** Whether the caller gave outputs, so that the time limit begins again. */
  isCallers?: boolean
  /** Replaces the tools of the caller. */
  callerTools?: CallerTools | undefined
}

/** Adds parts to the stream of a waiting turn, which must be locked, and continues the turn when it is ready. */
export const continueTurn = async (
  db: Transaction,
  deps: Pick<TurnDeps, 'jobs' | 'notifier'>,
  orgId: string,
  { turn, parts, isReady, untrustedFrom, callerTools, isCallers }: Continuation,
): Promise<void> => {
  const { id: turnId } = turn
  const lines = parts.map((part) => JSON.stringify(part))
  const firstSeq = (await eventQueries.findLastSeq(db, orgId, turnId)) + 1
  const frames = { lastSeq: firstSeq + lines.length - 1, lines: lines.join('\n') }
  // A program that continues the turn because of an event of the turn cannot make the turn start a new chain.
  const current = currentChain()
  const chain = current !== undefined && current.depth > (turn.eventDepth ?? 0) ? current : undefined
  await resumeTurn(db, { orgId, turnId, frames, isReady, chain, untrustedFrom, callerTools, isCallers })
  if (isReady) await enqueueTurn(db, deps, orgId, turn)
  db.afterCommit(() => deps.notifier.publish(turnId, { firstSeq, lines, isEnd: !isReady }))
}
