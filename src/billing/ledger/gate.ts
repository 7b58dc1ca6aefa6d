import type { FeeRule } from '../../config/billing.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { paymentRequired } from '../../platform/http/errors.ts'
import * as queries from './gate-queries.ts'
import { getAccount, lockAccount } from './ledger.ts'
import { findMonthCharges } from './queries.ts'
import type { AccountRow } from './queries.ts'
import { ceilDiv, microcentsPerCent } from './money.ts'

/** Microcents for a million tokens. */
export interface Rates {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** A call of a model that is to be made, as far as it can be known before. */
export interface PlannedCall {
  orgId: string
  turnId: string
  agentId: string
  /** The agent's own monthly cap. */
  agentCapCents: number | null
  rates: Rates
  fee: FeeRule
  /** On the org's own key: only the fee is charged. */
  isByok: boolean
  /** Of the prompt, estimated. */
  inputTokens: number
  maxOutputTokens: number | null
}

const perMillion = 1_000_000n
/** For models of which nobody told how much they say at most. */
const usualOutputTokens = 8_192
/** An answer that would have to be shorter than this is not worth beginning. */
const usefulOutputTokens = 256
/** Estimates of a prompt are short by a tenth now and then. */
const inputMarginPercent = 110n

export const isFree = ({ input, output, cacheRead, cacheWrite }: Rates): boolean =>
  input === 0 && output === 0 && cacheRead === 0 && cacheWrite === 0

/** What an agent's settings say of its monthly cap. */
export const agentCapOf = (settings: Record<string, unknown>): number | null => {
  const cap = settings['monthlyCapCents']
  return typeof cap === 'number' && Number.isSafeInteger(cap) && cap >= 0 ? cap : null
}

/** The most that a call costs with so many tokens of answer, in microcents. */
const worstCost = (call: PlannedCall, feeBps: number, outputTokens: number): bigint => {
  const inputRate = BigInt(Math.max(call.rates.input, call.rates.cacheWrite))
  const input = (BigInt(call.inputTokens) * inputRate * inputMarginPercent) / 100n
  const provider = ceilDiv(input + BigInt(outputTokens) * BigInt(call.rates.output), perMillion)
  const fee = ceilDiv(provider * BigInt(feeBps), 10_000n)
  return (call.isByok ? 0n : provider) + fee
}

/** The longest answer that the room is enough for, up to `most`. */
const affordableOutput = (call: PlannedCall, feeBps: number, room: bigint, most: number): number => {
  if (worstCost(call, feeBps, most) <= room) return most
  let low = 0
  let high = most
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (worstCost(call, feeBps, middle) <= room) low = middle
    else high = middle - 1
  }
  return low
}

interface Limit {
  roomMicrocents: bigint
  message: string
}

const balanceLimit = (account: AccountRow, held: queries.HeldRow): Limit => ({
  roomMicrocents:
    account.balanceCents * microcentsPerCent -
    account.remainderMicrocents -
    held.waitingMicrocents -
    held.othersMicrocents,
  message: 'The balance of the org is used up. Deposit something, or use a free model.',
})

const limitsOf = async (
  db: Transaction,
  isEnforced: boolean,
  account: AccountRow,
  call: PlannedCall,
): Promise<Limit[]> => {
  const { orgId, agentId, agentCapCents } = call
  const held = await queries.findHeld(db, orgId, call.turnId, agentId)
  const limits: Limit[] = []
  if (isEnforced) limits.push(balanceLimit(account, held))
  if (account.monthlyCapCents !== null) {
    const charged = await findMonthCharges(db, orgId, 'total', '')
    limits.push({
      roomMicrocents: account.monthlyCapCents * microcentsPerCent - charged - held.othersMicrocents,
      message: "The org's spending limit for this month is reached. Raise it, or use a free model.",
    })
  }
  if (agentCapCents !== null) {
    const charged = await findMonthCharges(db, orgId, 'agent', agentId)
    limits.push({
      roomMicrocents: BigInt(agentCapCents) * microcentsPerCent - charged - held.othersOfAgentMicrocents,
      message: "The agent's spending limit for this month is reached. Raise it, or use a free model.",
    })
  }
  return limits
}

/** `maxOutputTokens` is null when nothing limits the answer. */
export type Verdict = { maxOutputTokens: number | null } | { refusal: string }

const isLimited = (isEnforced: boolean, account: AccountRow, call: PlannedCall): boolean =>
  isEnforced || account.monthlyCapCents !== null || call.agentCapCents !== null

/**
 * Holds what a call may cost at most, or as much as there is: then the answer gets shorter. Refused when not even a short
 * one fits. Where there is a limit the account is locked, so that calls which begin at once do not count on the same
 * money.
 */
const hold = async (db: Transaction, isEnforced: boolean, known: AccountRow, call: PlannedCall): Promise<Verdict> => {
  const mustLock = isLimited(isEnforced, known, call)
  const account = mustLock ? await lockAccount(db, call.orgId) : known
  const limits = mustLock ? await limitsOf(db, isEnforced, account, call) : []
  const feeBps = account.cumulativeDepositsCents <= BigInt(call.fee.waiverCents) ? 0 : call.fee.bps
  const most = call.maxOutputTokens ?? usualOutputTokens
  const least = Math.min(most, usefulOutputTokens)
  const [tightest] = limits.toSorted((a, b) => (a.roomMicrocents < b.roomMicrocents ? -1 : 1))
  const room = tightest?.roomMicrocents
  if (tightest && room !== undefined && worstCost(call, feeBps, least) > room) return { refusal: tightest.message }
  const output = room === undefined ? most : affordableOutput(call, feeBps, room, most)
  await queries.upsertHold(db, call.orgId, call.turnId, call.agentId, worstCost(call, feeBps, output))
  return { maxOutputTokens: room === undefined ? call.maxOutputTokens : output }
}

/**
 * Lets a turn begin, with a hold on the balance, in the transaction that creates it. PAYMENT_REQUIRED when nothing
 * useful fits. Turns on free models always begin.
 */
export const admitTurn = async (db: Transaction, isEnforced: boolean, call: PlannedCall): Promise<void> => {
  if (isFree(call.rates)) return
  const verdict = await hold(db, isEnforced, await getAccount(db, call.orgId), call)
  if ('refusal' in verdict) throw paymentRequired(verdict.refusal)
}

/** Whether nothing can keep a call from being made: then nothing has to be held for it. */
export const isUnlimited = async (db: Db, isEnforced: boolean, call: PlannedCall): Promise<boolean> =>
  isFree(call.rates) || !isLimited(isEnforced, await getAccount(db, call.orgId), call)

/**
 * The same for each call of a turn, whose prompt grows as it goes on. The turn must be held against its end, or money
 * would stay held for a turn that is over.
 */
export const reserveCall = async (db: Transaction, isEnforced: boolean, call: PlannedCall): Promise<Verdict> =>
  hold(db, isEnforced, await getAccount(db, call.orgId), call)
