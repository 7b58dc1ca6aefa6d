import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export const findSecret = (db: Db) => db.row<{ sealed: string }>(sql`select sealed from sign_in_secret`)

export const insertSecret = (db: Db, sealed: string) =>
  db.execute(sql`insert into sign_in_secret (sealed) values (${sealed}) on conflict do nothing`)
