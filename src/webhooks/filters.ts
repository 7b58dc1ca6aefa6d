import { encodeCursor } from '../platform/http/cursor.ts'
import { badRequest } from '../platform/http/errors.ts'
import { firstId, smallestIdOf } from '../platform/ids.ts'
import { isWanted } from './receive/payload.ts'

/** The rows that one response of a filtered list reads, whether or not they match. */
export const scannedRows = 2_000

/** Ids above `after` and below `before`. */
export interface IdRange {
  after: string
  before: string
}

export interface TimeFilter {
  since?: string | undefined
  until?: string | undefined
}

/** An id can be older than its row's created_at: it is generated earlier and with another clock. */
export const idLeadMs = 3_600_000

const msOf = (name: string, time: string): number => {
  const ms = Date.parse(time)
  if (Number.isNaN(ms)) throw badRequest(`${name} must be a time`)
  return ms
}

/** The ids that can be of the times of a filter, and whether a time is one of them. Both ends are included. */
export const timesOf = ({ since, until }: TimeFilter) => {
  const from = since === undefined ? undefined : msOf('since', since)
  const to = until === undefined ? undefined : msOf('until', until)
  return {
    after: from === undefined ? firstId : smallestIdOf(from - idLeadMs),
    before: to === undefined ? undefined : smallestIdOf(to + idLeadMs),
    includes: (time: string): boolean => {
      const ms = Date.parse(time)
      return (from === undefined || ms >= from) && (to === undefined || ms <= to)
    },
  }
}

/** Whether a type is the one of a filter, which may end with `*`. No filter includes all. */
export const isOfType = (filter: string | undefined, type: string): boolean =>
  filter === undefined || isWanted([filter.trim().toLowerCase()], type)

/**
 * The first `limit` rows that match, and the cursor behind the last row that was compared: null when `rows`, at most
 * `scannedRows`, were all that there are.
 */
export const chooseRows = <T extends { id: string }>(
  rows: readonly T[],
  limit: number,
  matches: (row: T) => boolean,
) => {
  const chosen: T[] = []
  let compared = 0
  for (const row of rows) {
    if (chosen.length === limit) break
    compared += 1
    if (matches(row)) chosen.push(row)
  }
  const last = rows[compared - 1]
  const isEnd = compared === rows.length && rows.length < scannedRows
  return { chosen, nextCursor: isEnd || !last ? null : encodeCursor([last.id]) }
}
