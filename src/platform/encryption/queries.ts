import { join, raw, sql } from '../database/database.ts'
import type { Db, Sql } from '../database/database.ts'

/** A column of sealed values. `orgColumn` and `idColumns` are the primary key of the table. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Null for a table without an org. */
  readonly orgColumn: string | null
  readonly idColumns: readonly string[]
}

export interface CheckRow {
  keyId: string
  sealed: string
}

export const findChecks = (db: Db) => db.rows<CheckRow>(sql`select key_id, sealed from encryption_checks`)

/** Lets only one process at a time decide which keys a database has. */
export const lockChecks = (db: Db) => db.execute(sql`lock table encryption_checks in exclusive mode`)

export const insertCheck = (db: Db, row: CheckRow) =>
  db.execute(sql`insert into encryption_checks (key_id, sealed) values (${row.keyId}, ${row.sealed})`)

export const deleteOtherChecks = (db: Db, keyId: string) =>
  db.execute(sql`delete from encryption_checks where key_id <> ${keyId}`)

/** A sealed value with the ids of its row, as text. */
export interface SealedRow {
  orgId: string
  ids: string[]
  sealed: string
}

const name = (identifier: string): Sql => raw(`"${identifier}"`)

const idsOf = ({ orgColumn, idColumns }: SealedColumn): Sql[] =>
  [...(orgColumn === null ? [] : [orgColumn]), ...idColumns].map(name)

const notUnder = (column: SealedColumn, keyId: string): Sql =>
  sql`${name(column.column)} is not null and not starts_with(${name(column.column)}, ${`v1.${keyId}.`})`

/** Values that are not encrypted with the key `keyId`, in the order of their ids, after the row `after`. */
export const findSealedOtherwise = (
  db: Db,
  column: SealedColumn,
  { keyId, after, limit }: { keyId: string; after?: SealedRow | undefined; limit: number },
) => {
  const ids = idsOf(column)
  const last = after && [...(column.orgColumn === null ? [] : [after.orgId]), ...after.ids]
  const beyond = last ? sql`and (${join(ids)}) > (${join(last)})` : sql``
  return db.rows<SealedRow>(sql`
    -- all orgs: the keys belong to the installation
    select ${column.orgColumn === null ? sql`''` : sql`${name(column.orgColumn)}::text`} as org_id,
      array[${join(column.idColumns.map((id) => sql`${name(id)}::text`))}] as ids, ${name(column.column)} as sealed
    from ${name(column.table)} where ${notUnder(column, keyId)} ${beyond}
    order by ${join(ids)} limit ${limit}`)
}

/** False when the value was changed after it was read. */
export const replaceSealed = async (db: Db, column: SealedColumn, row: SealedRow, sealed: string): Promise<boolean> => {
  const values = [...(column.orgColumn === null ? [] : [row.orgId]), ...row.ids]
  return (
    (await db.execute(sql`
    -- all orgs: the primary key names the row, including org_id where there is one
    update ${name(column.table)} set ${name(column.column)} = ${sealed}
    where (${join(idsOf(column))}) = (${join(values)}) and ${name(column.column)} = ${row.sealed}`)) > 0
  )
}
