import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import { ok } from '../platform/http/schemas.ts'

/** The id that a cursor of `idList` stands for. */
export const afterId = (cursor: string | undefined): string | undefined =>
  cursor === undefined ? undefined : decodeCursor(cursor, ['uuid'])[0]

/** The answer of a list in order of ids. `rows` are one more than `limit`: that one tells whether there is more. */
export const idList = <Row>(rows: Row[], limit: number, idOf: (row: Row) => string) => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return ok({ items, nextCursor: rows.length > limit && last ? encodeCursor([idOf(last)]) : null })
}
