import type { Db } from '../../platform/database/database.ts'
import { dayOf, daysBetween, monthsBetween, previousOf } from '../periods.ts'
import type { Span } from '../periods.ts'
import * as queries from './queries.ts'
import type { Item } from './queries.ts'

/** Further models are one series. */
const shownModels = 6

const noMicrocents = (dates: readonly string[]): number[] => dates.map(() => 0)

const findPrevious = async (db: Db, orgId: string, span: Span, bucketOf: (date: string) => string) => {
  const before = previousOf(span)
  if (!before) return null
  const dates = [...new Set(daysBetween(before.fromDay, before.toDay).map(bucketOf))]
  const chargedMicrocents = noMicrocents(dates)
  let total = 0n
  for (const day of await queries.listDays(db, orgId, { grain: 'day', from: before.fromDay, to: before.toDay })) {
    const index = dates.indexOf(bucketOf(day.date))
    chargedMicrocents[index] = (chargedMicrocents[index] ?? 0) + Number(day.chargedMicrocents)
    total += day.chargedMicrocents
  }
  return { from: before.fromDay, to: before.toDay, totalChargedMicrocents: Number(total), chargedMicrocents }
}

/**
 * The charges of a span by day, or by month for a year and all time, for each of the models with the highest charges
 * (`models`, highest first) and for the others together, beside those of the period before.
 */
export const getChart = async (
  db: Db,
  orgId: string,
  { span, fromDay, now }: { span: Span; fromDay: string; now: Date },
  models: readonly (Pick<Item, 'key' | 'chargedMicrocents'> & { name: string })[],
) => {
  const grain = span.period === 'year' || span.period === 'all' ? ('month' as const) : ('day' as const)
  const bucketOf = (date: string): string => (grain === 'month' ? `${date.slice(0, 7)}-01` : date)
  const dates = grain === 'month' ? monthsBetween(fromDay, dayOf(now)) : daysBetween(fromDay, dayOf(now))
  const paid = models.filter(({ chargedMicrocents }) => chargedMicrocents > 0n)
  const shown = paid.slice(0, shownModels)
  const series = new Map<string, { id: string | null; name: string; chargedMicrocents: number[] }>(
    shown.map(({ key, name }) => [key, { id: key, name, chargedMicrocents: noMicrocents(dates) }]),
  )
  if (paid.length > shown.length) {
    series.set('', { id: null, name: 'Other models', chargedMicrocents: noMicrocents(dates) })
  }
  const range = { grain, from: bucketOf(fromDay), to: dayOf(now) }
  const keys = shown.map(({ key }) => key)
  for (const { date, key, chargedMicrocents } of await queries.listModelCharges(db, orgId, range, keys)) {
    const values = series.get(key)?.chargedMicrocents
    if (values) values[dates.indexOf(date)] = Number(chargedMicrocents)
  }
  return { grain, dates, models: [...series.values()], previous: await findPrevious(db, orgId, span, bucketOf) }
}
