import type { Db } from '../../platform/database/database.ts'
import * as queries from './queries.ts'

const monthPattern = /^(20\d\d)-(0[1-9]|1[0-2])$/

/** A month as `2026-11`, with its start and end in UTC as ISO 8601. */
export interface Month {
  month: string
  from: string
  to: string
}

const startOf = (year: number, index: number): string => new Date(Date.UTC(year, index, 1)).toISOString()

/** Undefined unless the text is a month such as `2026-11`, from the year 2000. */
export const parseMonth = (text: string): Month | undefined => {
  const [, year, month] = monthPattern.exec(text) ?? []
  if (year === undefined || month === undefined) return undefined
  const [numericYear, index] = [Number(year), Number(month) - 1]
  return { month: text, from: startOf(numericYear, index), to: startOf(numericYear, index + 1) }
}

/** The months from one moment to another, both included, in order. */
export const monthsUntil = (first: Date, last: Date): Month[] => {
  const months: Month[] = []
  const at = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), 1))
  for (; at <= last; at.setUTCMonth(at.getUTCMonth() + 1)) {
    const found = parseMonth(at.toISOString().slice(0, 7))
    if (found) months.push(found)
  }
  return months
}

const settleMs = 3_600_000

/**
 * A month is final an hour after its end: transactions that were posted at its end are committed by then.
 */
export const isProvisional = ({ to }: Month, now: Date): boolean => now.getTime() < Date.parse(to) + settleMs

/**
 * For each moment (ISO 8601), the number of the last transaction before it; 0 if there is none. `count`: the number of
 * transactions. Transactions are numbered in the order of their times, so a binary search finds each in 25 rows of 30
 * million, and the ledger needs no index on times. All moments are searched together, in one query for each step.
 */
export const findBoundaries = async (
  db: Db,
  orgId: string,
  count: bigint,
  moments: readonly string[],
): Promise<bigint[]> => {
  const searches = moments.map((moment) => ({ ms: Date.parse(moment), low: 0n, high: count }))
  for (;;) {
    const open = searches
      .filter(({ low, high }) => low < high)
      .map((search) => ({ search, middle: (search.low + search.high + 1n) / 2n }))
    if (open.length === 0) return searches.map(({ low }) => low)
    const rows = await queries.listTimes(db, orgId, [...new Set(open.map(({ middle }) => middle))])
    const times = new Map(rows.map(({ number, ms }) => [number, ms]))
    for (const { search, middle } of open) {
      if ((times.get(middle) ?? Infinity) < search.ms) search.low = middle
      else search.high = middle - 1n
    }
  }
}

/** The balance after each of these transactions; 0 after number 0. */
export const findBalances = async (db: Db, orgId: string, numbers: readonly bigint[]): Promise<bigint[]> => {
  const rows = await queries.listBalances(db, orgId, [...new Set(numbers)])
  const balances = new Map(rows.map(({ number, balanceAfterCents }) => [number, balanceAfterCents]))
  return numbers.map((number) => balances.get(number) ?? 0n)
}
