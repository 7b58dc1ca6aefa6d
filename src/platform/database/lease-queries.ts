import { sql } from './database.ts'
import type { Db, Sql } from './database.ts'

/** A row with the columns `lease_token uuid` and `lease_until timestamptz`. */
export interface LeasedRow {
  /** sql`turns` */
  table: Sql
  /** The condition that names the one row by its key, `org_id` included. */
  row: Sql
}

export interface NewLease {
  token: string
  leaseMs: number
  when?: Sql
  set?: Sql
  returning?: Sql
  /** Further CTEs over `claimed`, which has the columns of `returning` and no row when nothing is claimed. */
  also?: Sql
}

// `statement_timestamp()` moves on within a transaction, unlike `now()`, and is never earlier than the moment at which the
// client sent the statement, so the lease ends no earlier than its owner believes. `clock_timestamp()` is volatile, and a
// distributed schema rejects that in updates.
const until = (leaseMs: number): Sql => sql`statement_timestamp() + ${leaseMs} * interval '1 millisecond'`

export const claim = <Row>(
  db: Db,
  { table, row }: LeasedRow,
  { token, leaseMs, when = sql`true`, set, returning = sql`true`, also }: NewLease,
) => {
  const claimed = sql`update ${table} set lease_token = ${token}, lease_until = ${until(leaseMs)}${set ? sql`, ${set}` : sql``}
    where ${row} and (lease_token is null or lease_until < statement_timestamp()) and (${when})
    returning ${returning}`
  return db.row<Row>(sql`
    -- all orgs: the caller's condition names org_id
    ${also ? sql`with claimed as (${claimed}), ${also} select * from claimed` : claimed}`)
}

export const renew = async (db: Db, { table, row }: LeasedRow, token: string, leaseMs: number): Promise<boolean> =>
  (await db.execute(sql`
    -- all orgs: the caller's condition names org_id
    update ${table} set lease_until = ${until(leaseMs)} where ${row} and lease_token = ${token}`)) > 0

export const release = (db: Db, { table, row }: LeasedRow, token: string) =>
  db.execute(sql`
    -- all orgs: the caller's condition names org_id
    update ${table} set lease_token = null, lease_until = null where ${row} and lease_token = ${token}`)
