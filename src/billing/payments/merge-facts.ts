import type { Transaction } from '../../platform/database/database.ts'
import { findFact, putFact } from './queries.ts'
import type { Fact, TimedFact } from './queries.ts'

type Fields = Pick<TimedFact, 'data' | 'reportedAt' | 'fieldTimes'>

const isBefore = (one: string, other: string): boolean => Date.parse(one) < Date.parse(other)

/**
 * Adds the fields that an event reported at `at`. Of a field with two values, the later event's counts, whatever other
 * fields the two events have; at the same time, the one that is merged last.
 */
export const mergeFields = (known: Fields, data: Record<string, unknown>, at: string): Fields => {
  const { reportedAt, fieldTimes } = known
  const timeOf = (name: string): string => fieldTimes?.[name] ?? reportedAt
  const isNewer = (name: string): boolean => !Object.hasOwn(known.data, name) || !isBefore(at, timeOf(name))
  const newer = Object.entries(data).filter(([name]) => isNewer(name))
  return {
    data: { ...known.data, ...Object.fromEntries(newer) },
    reportedAt: isBefore(at, reportedAt) ? reportedAt : at,
    fieldTimes: {
      ...Object.fromEntries(Object.keys(known.data).map((name) => [name, timeOf(name)])),
      ...Object.fromEntries(newer.map(([name]) => [name, at])),
    },
  }
}

/**
 * Merges the fields that an event reported into those of earlier and later ones. `at` is the provider's time. The subject
 * must be locked.
 */
export const storeFact = async (db: Transaction, fact: Fact, at: string): Promise<void> => {
  const { subject, kind, id, data } = fact
  const known = (await findFact(db, fact)) ?? { data: {}, reportedAt: at, fieldTimes: null }
  await putFact(db, subject, { kind, id, ...mergeFields(known, data, at) })
}
