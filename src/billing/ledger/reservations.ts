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
  /**
   * At admission, when the prompt is not known yet: its likely size. More money is reserved for it if there is any, so
   * that the first call needs no second reservation. It never rejects a turn.
   */
  likelyInputTokens?: number
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

/** What is reserved for the next call of a turn. */
export interface ReservedMoney {
  microcents: bigint
  feeBps: number
  /** Whether a limit applies, so that the answer must have one too. */
  isLimited: boolean
}

/** `maxOutputTokens` is null when no limit applies to the answer; `rejection` is the public message. */
export type ReservationResult = { maxOutputTokens: number | null; reserved: ReservedMoney } | { rejection: string }

const isLimited = (isEnforced: boolean, account: AccountRow, call: PlannedCall): boolean =>
  isEnforced || account.monthlyCapCents !== null || call.agentCapCents !== null

/** The account of the call's org, locked when a limit applies. */
const accountFor = async (db: Transaction, isEnforced: boolean, call: PlannedCall): Promise<AccountRow> => {
  // One statement where it is clear that a limit applies.
  if (isEnforced || call.agentCapCents !== null) return lockAccount(db, call.orgId)
  const account = await getAccount(db, call.orgId)
  return account.monthlyCapCents === null ? account : lockAccount(db, call.orgId)
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/**
 * Finds the maximum cost of a call, or what is available: then the answer is limited to what that pays for. Rejects the
 * call when not even `usefulOutputTokens` fit. The account is locked when a limit applies, so that calls that begin at the
 * same time do not count on the same money. The caller stores the reservation in the same transaction.
 */
const plan = async (db: Transaction, isEnforced: boolean, call: PlannedCall): Promise<ReservationResult> => {
  const account = await accountFor(db, isEnforced, call)
  const mustLimit = isLimited(isEnforced, account, call)
  const limits = mustLimit ? await limitsOf(db, isEnforced, account, call) : []
  const feeBps = account.cumulativeDepositsCents <= BigInt(call.fee.waiverCents) ? 0 : call.fee.bps
  const most = call.maxOutputTokens ?? defaultOutputTokens
  // On the org's own key while the fee is waived: a debt and a limit that is exceeded do not grow, as with a free model.
  if (worstCost(call, feeBps, most) === 0n) {
    return { maxOutputTokens: call.maxOutputTokens, reserved: { microcents: 0n, feeBps, isLimited: mustLimit } }
  }
  const [tightest] = limits.toSorted((a, b) => (a.availableMicrocents < b.availableMicrocents ? -1 : 1))
  const available = tightest?.availableMicrocents
  if (tightest && available !== undefined && worstCost(call, feeBps, Math.min(most, usefulOutputTokens)) > available) {
    return { rejection: tightest.message }
  }
  const output = available === undefined ? most : affordableOutput(call, feeBps, available, most)
  const inputTokens = Math.max(call.inputTokens, call.likelyInputTokens ?? 0)
  const likely = worstCost({ ...call, inputTokens }, feeBps, output)
  const microcents = available === undefined ? likely : least(likely, available)
  const maxOutputTokens = available === undefined ? call.maxOutputTokens : output
  return { maxOutputTokens, reserved: { microcents, feeBps, isLimited: mustLimit } }
}

/**
 * The reservation for a turn's first call; the transaction that creates the turn must store it. Undefined for a free
 * model, whose turns are always admitted. PAYMENT_REQUIRED when the balance or a cap does not cover a useful answer.
 */
export const admitTurn = async (
  db: Transaction,
  isEnforced: boolean,
  call: PlannedCall,
): Promise<ReservedMoney | undefined> => {
  if (isFree(call.rates)) return undefined
  const result = await plan(db, isEnforced, call)
  if ('rejection' in result) throw paymentRequired(result.rejection)
  return result.reserved
}

/** Whether no limit applies to a call, so that it needs no reservation. */
export const isUnlimited = async (db: Db, isEnforced: boolean, call: PlannedCall): Promise<boolean> =>
  isFree(call.rates) || (!isEnforced && !isLimited(isEnforced, await getAccount(db, call.orgId), call))

/**
 * The limit of the answer of a turn's first call when the reservation of its admission covers the call. Undefined when a
 * larger one is needed.
 */
export const coveredBy = (
  reserved: ReservedMoney,
  call: PlannedCall,
): { maxOutputTokens: number | null } | undefined => {
  const most = call.maxOutputTokens ?? defaultOutputTokens
  if (worstCost(call, reserved.feeBps, most) > reserved.microcents) return undefined
  return { maxOutputTokens: reserved.isLimited ? most : call.maxOutputTokens }
}

/**
 * Reserves the cost of a further call of a turn, whose prompt grows with each call. The row of the turn must be locked:
 * otherwise the turn could end first, and its reservation would never be released.
 */
export const reserveCall = async (
  db: Transaction,
  isEnforced: boolean,
  call: PlannedCall,
): Promise<ReservationResult> => {
  const result = await plan(db, isEnforced, call)
  if ('rejection' in result) return result
  const { orgId, turnId, agentId } = call
  await queries.upsertReservation(db, { orgId, turnId, agentId, microcents: result.reserved.microcents })
  return result
}

/**
 * Reserves the cost of a call outside of a turn, whose id is in `turnId`. The reservation expires after `seconds`, in case
 * the process is killed. PAYMENT_REQUIRED when the balance or the cap of the org does not cover the call.
 */
export const reserveStandaloneCall = async (
  db: Transaction,
  isEnforced: boolean,
  call: PlannedCall,
  seconds: number,
): Promise<void> => {
  if (isFree(call.rates)) return
  const result = await plan(db, isEnforced, call)
  if ('rejection' in result) throw paymentRequired(result.rejection)
  if (!result.reserved.isLimited) return
  const { orgId, turnId, agentId } = call
  const { microcents } = result.reserved
  await queries.insertExpiringReservation(db, { orgId, turnId, agentId, microcents, seconds })
}
