import type { FeeRule } from '../../config/billing.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { paymentRequired } from '../../platform/http/errors.ts'
import * as queries from './reservation-queries.ts'
import { getAccount, lockAccount } from './ledger.ts'
import { findMonthCharges } from './queries.ts'
import type { AccountRow } from './queries.ts'
import { ceilDiv, microcentsPerCent } from './money.ts'

/** Microcents per million tokens. */
export interface Rates {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** A model call before it is made: what it can cost at most is estimated from this. */
export interface PlannedCall {
  orgId: string
  turnId: string
  agentId: string
  /** The agent's own monthly cap. */
  agentCapCents: number | null
  rates: Rates
  fee: FeeRule
  /** The call uses the org's own provider key, so only the fee is charged. */
  isByok: boolean
  /** Estimated tokens of the prompt. */
  inputTokens: number
  maxOutputTokens: number | null
}

const perMillion = 1_000_000n
/** For models without a configured output limit. */
const defaultOutputTokens = 8_192
/** A call is rejected when the balance does not cover an answer of this length. */
const usefulOutputTokens = 256
/** Prompt estimates are sometimes too low by up to a tenth. */
const inputMarginPercent = 110n

export const isFree = ({ input, output, cacheRead, cacheWrite }: Rates): boolean =>
  input === 0 && output === 0 && cacheRead === 0 && cacheWrite === 0

/** The monthly cap in an agent's settings; null when there is none. */
export const agentCapOf = (settings: Record<string, unknown>): number | null => {
  const cap = settings['monthlyCapCents']
  return typeof cap === 'number' && Number.isSafeInteger(cap) && cap >= 0 ? cap : null
}

/** The maximum cost of a call with this many output tokens, in microcents. */
const worstCost = (call: PlannedCall, feeBps: number, outputTokens: number): bigint => {
  const inputRate = BigInt(Math.max(call.rates.input, call.rates.cacheWrite))
  const input = (BigInt(call.inputTokens) * inputRate * inputMarginPercent) / 100n
  const provider = ceilDiv(input + BigInt(outputTokens) * BigInt(call.rates.output), perMillion)
  const fee = ceilDiv(provider * BigInt(feeBps), 10_000n)
  return (call.isByok ? 0n : provider) + fee
}

/** The longest answer that `availableMicrocents` pays for, up to `most`, in tokens. */
const affordableOutput = (call: PlannedCall, feeBps: number, availableMicrocents: bigint, most: number): number => {
  if (worstCost(call, feeBps, most) <= availableMicrocents) return most
  let low = 0
  let high = most
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (worstCost(call, feeBps, middle) <= availableMicrocents) low = middle
    else high = middle - 1
  }
  return low
}

interface Limit {
  availableMicrocents: bigint
  message: string
}

const balanceLimit = (account: AccountRow, reserved: queries.ReservationSums): Limit => ({
  availableMicrocents:
    account.balanceCents * microcentsPerCent -
    account.remainderMicrocents -
    reserved.pendingMicrocents -
    reserved.othersMicrocents,
  message: 'The balance of the org is used up. Make a deposit, or use a free model.',
})

const limitsOf = async (
  db: Transaction,
  isEnforced: boolean,
  account: AccountRow,
  call: PlannedCall,
): Promise<Limit[]> => {
  const { orgId, agentId, agentCapCents } = call
  const reserved = await queries.findReservations(db, orgId, call.turnId, agentId)
  const limits: Limit[] = []
  if (isEnforced) limits.push(balanceLimit(account, reserved))
  if (account.monthlyCapCents !== null) {
    const charged = await findMonthCharges(db, orgId, 'total', '')
    limits.push({
      availableMicrocents: account.monthlyCapCents * microcentsPerCent - charged - reserved.othersMicrocents,
      message: "The org's spending limit for this month is reached. Raise it, or use a free model.",
    })
  }
  if (agentCapCents !== null) {
    const charged = await findMonthCharges(db, orgId, 'agent', agentId)
    limits.push({
      availableMicrocents: BigInt(agentCapCents) * microcentsPerCent - charged - reserved.othersOfAgentMicrocents,
      message: "The agent's spending limit for this month is reached. Raise it, or use a free model.",
    })
  }
  return limits
}

/** `maxOutputTokens` is null when no limit applies to the answer; `rejection` is the public message. */
export type ReservationResult = { maxOutputTokens: number | null } | { rejection: string }

const isLimited = (isEnforced: boolean, account: AccountRow, call: PlannedCall): boolean =>
  isEnforced || account.monthlyCapCents !== null || call.agentCapCents !== null

/**
 * Reserves the maximum cost of a call, or what is available: then the answer is limited to what that pays for. Rejects
 * the call when not even `usefulOutputTokens` fit. The account is locked when a limit applies, so that calls that begin
 * at the same time do not count on the same money.
 */
const reserve = async (
  db: Transaction,
  isEnforced: boolean,
  known: AccountRow,
  call: PlannedCall,
): Promise<ReservationResult> => {
  const mustLock = isLimited(isEnforced, known, call)
  const account = mustLock ? await lockAccount(db, call.orgId) : known
  const limits = mustLock ? await limitsOf(db, isEnforced, account, call) : []
  const feeBps = account.cumulativeDepositsCents <= BigInt(call.fee.waiverCents) ? 0 : call.fee.bps
  const most = call.maxOutputTokens ?? defaultOutputTokens
  const least = Math.min(most, usefulOutputTokens)
  const [tightest] = limits.toSorted((a, b) => (a.availableMicrocents < b.availableMicrocents ? -1 : 1))
  const available = tightest?.availableMicrocents
  if (tightest && available !== undefined && worstCost(call, feeBps, least) > available) {
    return { rejection: tightest.message }
  }
  const output = available === undefined ? most : affordableOutput(call, feeBps, available, most)
  const { orgId, turnId, agentId } = call
  await queries.upsertReservation(db, { orgId, turnId, agentId, microcents: worstCost(call, feeBps, output) })
  return { maxOutputTokens: available === undefined ? call.maxOutputTokens : output }
}

/**
 * Reserves the cost of a turn's first call, in the transaction that creates the turn. PAYMENT_REQUIRED when the balance
 * or a cap does not cover a useful answer. Turns on free models are always admitted.
 */
export const admitTurn = async (db: Transaction, isEnforced: boolean, call: PlannedCall): Promise<void> => {
  if (isFree(call.rates)) return
  const result = await reserve(db, isEnforced, await getAccount(db, call.orgId), call)
  if ('rejection' in result) throw paymentRequired(result.rejection)
}

/** Whether no limit applies to a call, so that it needs no reservation. */
export const isUnlimited = async (db: Db, isEnforced: boolean, call: PlannedCall): Promise<boolean> =>
  isFree(call.rates) || !isLimited(isEnforced, await getAccount(db, call.orgId), call)

/**
 * Reserves the cost of a further call of a turn, whose prompt grows with each call. The row of the turn must be locked:
 * otherwise the turn could end first, and its reservation would never be released.
 */
export const reserveCall = async (
  db: Transaction,
  isEnforced: boolean,
  call: PlannedCall,
): Promise<ReservationResult> => reserve(db, isEnforced, await getAccount(db, call.orgId), call)
