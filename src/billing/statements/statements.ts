import type { Db } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import { getAccount } from '../ledger/ledger.ts'
import { microcentsPerCent } from '../ledger/money.ts'
import { listItems } from '../spending/queries.ts'
import type { Item } from '../spending/queries.ts'
import { findBalances, findBoundaries, isProvisional, monthsUntil, parseMonth } from './months.ts'
import type { Month } from './months.ts'
import * as queries from './queries.ts'
import type { MonthUsage, OtherRow, OtherSum, PlanPaymentRow } from './queries.ts'

export interface MonthSummary {
  month: string
  isProvisional: boolean
  openingCents: bigint
  /** Positive. */
  depositCents: bigint
  /** Negative. */
  refundCents: bigint
  adjustmentCents: bigint
  /** Charges of usage and the platform fee. Negative. */
  usageCents: bigint
  closingCents: bigint
}

export interface UsageLine {
  /** The id of the model. Null: all others. */
  model: string | null
  requestCount: number
  inputTokens: number
  outputTokens: number
  /** Without the platform fee. */
  microcents: bigint
}

export interface Statement extends MonthSummary {
  from: string
  to: string
  /** Deposits, refunds and adjustments, oldest first. */
  entries: OtherRow[]
  /** Those that are not in `entries`. */
  omitted: { count: number; cents: bigint }
  usage: {
    lines: UsageLine[]
    feeMicrocents: bigint
    /** Charged before the month and posted in it. */
    carriedInMicrocents: bigint
    /** Charged in the month and not posted in it. */
    carriedOutMicrocents: bigint
    /** The lines, the fee and what is carried in, without what is carried out. Positive; a whole number of cents. */
    totalMicrocents: bigint
  }
  planPayments: PlanPaymentRow[]
}

const sumOf = (sums: readonly OtherSum[], bucket: number, type?: OtherSum['type']): bigint =>
  sums.reduce((sum, one) => (one.bucket === bucket && (type ?? one.type) === one.type ? sum + one.cents : sum), 0n)

interface Ledger {
  months: Month[]
  /** The last transaction before each month, and before the end of the last one. */
  boundaries: bigint[]
  balances: bigint[]
  /** The bucket of a month is its index + 1; 0 is before the first one. */
  sums: OtherSum[]
}

const readLedger = async (db: Db, orgId: string, months: Month[]): Promise<Ledger> => {
  const { transactionCount } = await getAccount(db, orgId)
  const moments = [...months.map(({ from }) => from), months.at(-1)?.to ?? '']
  const boundaries = await findBoundaries(db, orgId, transactionCount, moments)
  return {
    months,
    boundaries,
    balances: await findBalances(db, orgId, boundaries),
    sums: await queries.listOtherSums(db, orgId, boundaries),
  }
}

const summaryOf = ({ months, balances, sums }: Ledger, index: number, now: Date): MonthSummary => {
  const month = months[index]
  if (!month) throw new Error('there is no such month')
  const openingCents = balances[index] ?? 0n
  const closingCents = balances[index + 1] ?? 0n
  return {
    month: month.month,
    isProvisional: isProvisional(month, now),
    openingCents,
    depositCents: sumOf(sums, index + 1, 'deposit'),
    refundCents: sumOf(sums, index + 1, 'refund'),
    adjustmentCents: sumOf(sums, index + 1, 'adjustment'),
    // All types of transactions add up to the change of the balance.
    usageCents: closingCents - openingCents - sumOf(sums, index + 1),
    closingCents,
  }
}

/** The start of the first month with a transaction or usage. */
const findStart = async (db: Db, orgId: string, usage: readonly MonthUsage[]): Promise<number | undefined> => {
  const [first] = await queries.listTimes(db, orgId, [1n])
  const starts = [first?.ms, usage[0] && Date.parse(usage[0].month)].filter((ms) => ms !== undefined)
  return starts.length === 0 ? undefined : Math.min(...starts)
}

/** Every month with transactions or usage, newest first. Read it in one snapshot. */
export const listMonths = async (db: Db, orgId: string, now: Date): Promise<MonthSummary[]> => {
  const usage = await queries.listMonthUsage(db, orgId)
  const start = await findStart(db, orgId, usage)
  if (start === undefined) return []
  const ledger = await readLedger(db, orgId, monthsUntil(new Date(start), now))
  const used = new Set(usage.map(({ month }) => month.slice(0, 7)))
  return ledger.months
    .map((month, index) => ({ month, index }))
    .filter(({ month, index }) => used.has(month.month) || ledger.boundaries[index] !== ledger.boundaries[index + 1])
    .map(({ index }) => summaryOf(ledger, index, now))
    .toReversed()
}

// More would fill a PDF of a hundred pages.
const maxEntries = 500
const maxModels = 200
const maxPlanPayments = 50

const toLine = (model: string | null, items: readonly Item[]): UsageLine => ({
  model,
  requestCount: items.reduce((sum, { requestCount }) => sum + requestCount, 0),
  inputTokens: items.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
  outputTokens: items.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  microcents: items.reduce((sum, one) => sum + one.chargedMicrocents - one.platformFeeMicrocents, 0n),
})

const linesOf = (items: readonly Item[]): UsageLine[] => {
  const shown = items.slice(0, maxModels).map((item) => toLine(item.key, [item]))
  const others = items.slice(maxModels)
  return others.length === 0 ? shown : [...shown, toLine(null, others)]
}

const sumMicrocents = (items: readonly { chargedMicrocents: bigint }[]): bigint =>
  items.reduce((sum, { chargedMicrocents }) => sum + chargedMicrocents, 0n)

/**
 * The usage of a month and how it became the cents that were posted. A charge is posted when it makes a whole cent with
 * those before it, so a rest below a cent, and calls at the very end of a month, are posted in the next one: `carried`.
 */
const readUsage = async (
  db: Db,
  orgId: string,
  { from }: Month,
  posted: { beforeCents: bigint; withinCents: bigint },
): Promise<Statement['usage']> => {
  const day = from.slice(0, 10)
  const items = await listItems(db, orgId, 'model', { grain: 'month', from: day, to: day })
  const before = (await queries.listMonthUsage(db, orgId)).filter(({ month }) => month < day)
  const carriedInMicrocents = sumMicrocents(before) - posted.beforeCents * microcentsPerCent
  const totalMicrocents = posted.withinCents * microcentsPerCent
  return {
    lines: linesOf(items),
    feeMicrocents: items.reduce((sum, { platformFeeMicrocents }) => sum + platformFeeMicrocents, 0n),
    carriedInMicrocents,
    carriedOutMicrocents: carriedInMicrocents + sumMicrocents(items) - totalMicrocents,
    totalMicrocents,
  }
}

/** The month of a path. NOT_FOUND unless it is a month that has begun. */
export const getMonth = (text: string, now: Date): Month => {
  const month = parseMonth(text)
  if (!month || Date.parse(month.from) > now.getTime()) throw notFound('Statement')
  return month
}

/** The statement of a month. Read it in one snapshot. Months without transactions have one as well. */
export const getStatement = async (db: Db, orgId: string, month: Month, now: Date): Promise<Statement> => {
  const ledger = await readLedger(db, orgId, [month])
  const summary = summaryOf(ledger, 0, now)
  const [after = 0n, last = 0n] = ledger.boundaries
  const others = ledger.sums.filter(({ bucket }) => bucket === 1)
  const entries = await queries.listOthers(db, orgId, { after, last, limit: maxEntries })
  const shownCents = entries.reduce((sum, { amountCents }) => sum + amountCents, 0n)
  return {
    ...summary,
    from: month.from,
    to: month.to,
    entries,
    omitted: {
      count: others.reduce((sum, { count }) => sum + count, 0) - entries.length,
      cents: sumOf(ledger.sums, 1) - shownCents,
    },
    usage: await readUsage(db, orgId, month, {
      beforeCents: sumOf(ledger.sums, 0) - summary.openingCents,
      withinCents: -summary.usageCents,
    }),
    planPayments: await queries.listPlanPayments(db, orgId, month, maxPlanPayments),
  }
}
