import { sql } from '../database/database.ts'
import type { Db, Sql } from '../database/database.ts'
import type { LeasedRow } from '../database/lease.ts'

/** The row of the object store. `identity` is set before `registeredAt`. */
export interface Registration {
  identity: string | null
  location: string | null
  registeredAt: string | null
}

export const registrationRow: LeasedRow = { table: sql`object_store_registration`, row: sql`only_row` }

export const unregistered: Sql = sql`registered_at is null`

/** Keeps the identity of a process that died before it wrote it to its store. */
export const chooseIdentity = (identity: string): Sql => sql`identity = coalesce(identity, ${identity})`

export const identityColumn: Sql = sql`identity`

export const findRegistration = (db: Db) =>
  db.row<Registration>(sql`select identity, location, registered_at from object_store_registration`)

/** Whether the lease was still held. */
export const confirm = async (db: Db, location: string, held: Sql): Promise<boolean> =>
  (await db.execute(sql`
    update object_store_registration set location = ${location}, registered_at = now() where ${held}`)) > 0

export const replace = (db: Db, identity: string, location: string) =>
  db.execute(sql`
    update object_store_registration
    set identity = ${identity}, location = ${location}, registered_at = now(), lease_token = null, lease_until = null`)
