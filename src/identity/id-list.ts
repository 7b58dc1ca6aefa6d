import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import { ok } from '../platform/http/schemas.ts'

/** The id in a cursor of `idList`. */
export const afterId = (cursor: string | undefined): string | undefined =>
  cursor === undefined ? undefined : decodeCursor(cursor, ['uuid'])[0]

/** The response of a list in order of ids. Query `limit + 1` rows: the extra row shows whether there is a next page. */
export const idList = <Row>(rows: Row[], limit: number, idOf: (row: Row) => string) => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return ok({ items, nextCursor: rows.length > limit && last ? encodeCursor([idOf(last)]) : null })
}
