import type { Database } from '../../platform/database/database.ts'
import { listNewEvents } from './queries.ts'
import type { NewTurnEventsRow, StreamPosition } from './queries.ts'

/**
 * The new events and the status of many turns, for all streams that a process serves: in one statement, or in one for
 * each org where tables are distributed by org. `place` is the index of the position, from 1.
 */
export const readNewEvents = async (
  db: Database,
  positions: StreamPosition[],
  rowsEach: number,
): Promise<NewTurnEventsRow[]> => {
  if (!(await db.isDistributed())) return listNewEvents(db.hot, positions, rowsEach)
  const orgs = Map.groupBy(positions.entries(), ([, { orgId }]) => orgId)
  const found = await Promise.all(
    Array.from(orgs, async ([orgId, entries]) => {
      const own = entries.map(([, position]) => position)
      const rows = await listNewEvents(db.hot, own, rowsEach, orgId)
      return rows.map((row) => ({ ...row, place: BigInt((entries[Number(row.place) - 1]?.[0] ?? -1) + 1) }))
    }),
  )
  return found.flat()
}
