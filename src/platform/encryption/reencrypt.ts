import type { Database } from '../database/database.ts'
import * as queries from './queries.ts'
import type { SealedColumn } from './queries.ts'
import { UnsealError } from './secrets.ts'
import type { SealedAt, Sealer } from './secrets.ts'

export interface SealedColumnAt extends SealedColumn {
  /** The location of a value. `ids` are in the order of `idColumns`; `orgId` is `''` for a table without an org. */
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
    if (ids.length !== idColumns.length) throw new Error(`${table}.${column} needs ${idColumns.length} ids`)
    return { table, column, orgId, rowId: ids.join('/') }
  },
})

export interface ReencryptResult {
  table: string
  column: string
  /** Values that were encrypted with the current key. */
  resealed: number
  /** Values that another process changed at the same time. */
  changed: number
  /** Values that no configured key decrypts; they were not changed. */
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
    const rows = await queries.findSealedOtherwise(db, column, { keyId: sealer.currentKeyId, after, limit: batchSize })
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
 * Encrypts every sealed value with the current key. Servers may run at the same time: a value that another process
 * changes is skipped. It can be stopped and run again at any time. When no value is left under another key, the other
 * keys can be removed from the configuration; until then a start without them fails.
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
    const [left] = await queries.findSealedOtherwise(db, column, { keyId: sealer.currentKeyId, limit: 1 })
    if (left) isComplete = false
  }
  if (isComplete) await queries.deleteOtherChecks(db, sealer.currentKeyId)
  return { columns: results, isComplete }
}
