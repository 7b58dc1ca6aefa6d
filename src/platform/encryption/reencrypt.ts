import type { Database } from '../database/database.ts'
import * as queries from './queries.ts'
import { UnsealError } from './secrets.ts'
import type { SealedAt, Sealer } from './secrets.ts'

/** A column of sealed values, by name. `idColumns` with `orgColumn` before them are the table's primary key. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Null for a table that belongs to no org. */
  readonly orgColumn: string | null
  readonly idColumns: readonly string[]
}

export interface SealedColumnAt extends SealedColumn {
  /** Where the value of this row lives. Give the ids in the order of `idColumns`; without an org, `''`. */
  at(orgId: string, ...ids: string[]): SealedAt
}

/** Declares a column of sealed values. Add it to src/sealed-columns.ts, or its values are lost when keys are rotated. */
export const defineSealedColumn = (
  table: string,
  column: string,
  { orgColumn = 'org_id', idColumns = ['id'] }: { orgColumn?: string | null; idColumns?: readonly string[] } = {},
): SealedColumnAt => ({
  table,
  column,
  orgColumn,
  idColumns,
  at: (orgId, ...ids) => {
    if (ids.length !== idColumns.length) throw new Error(`${table}.${column} has ${idColumns.length} ids`)
    return { table, column, orgId, rowId: ids.join('/') }
  },
})

export interface ReencryptResult {
  table: string
  column: string
  /** Now under the current key. */
  resealed: number
  /** Written by somebody else in between. */
  changed: number
  /** Did not open under any key that is here, and were left as they are. */
  unreadable: number
}

export interface ReencryptOptions {
  batchSize?: number
  onBatch?: (soFar: ReencryptResult) => void
}

const reencryptColumn = async (
  db: Database,
  sealer: Sealer,
  column: SealedColumnAt,
  { batchSize = 200, onBatch }: ReencryptOptions,
): Promise<ReencryptResult> => {
  const result: ReencryptResult = { table: column.table, column: column.column, resealed: 0, changed: 0, unreadable: 0 }
  let after: queries.SealedRow | undefined
  for (;;) {
    const rows = await queries.findSealedOtherwise(db, column, sealer.currentKeyId, after, batchSize)
    for (const row of rows) {
      const at = column.at(row.orgId, ...row.ids)
      try {
        const sealed = sealer.seal(sealer.open(row.sealed, at), at)
        if (await queries.replaceSealed(db, column, row, sealed)) result.resealed += 1
        else result.changed += 1
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error
        result.unreadable += 1
      }
    }
    onBatch?.({ ...result })
    after = rows.at(-1)
    if (rows.length < batchSize) return result
  }
}

/**
 * Puts every sealed value under the current key. Beside running servers: a value that changes in between is left to
 * whoever changed it. Stopped at any moment, it goes on where it was when it is run again. When nothing is left under
 * another key, the other keys may be taken out of the configuration; until then the start refuses to do without them.
 */
export const reencrypt = async (
  db: Database,
  sealer: Sealer,
  columns: readonly SealedColumnAt[],
  options: ReencryptOptions = {},
): Promise<{ columns: ReencryptResult[]; isComplete: boolean }> => {
  const results: ReencryptResult[] = []
  for (const column of columns) results.push(await reencryptColumn(db, sealer, column, options))
  let isComplete = true
  for (const column of columns) {
    const [left] = await queries.findSealedOtherwise(db, column, sealer.currentKeyId, undefined, 1)
    if (left) isComplete = false
  }
  if (isComplete) await queries.deleteOtherChecks(db, sealer.currentKeyId)
  return { columns: results, isComplete }
}
