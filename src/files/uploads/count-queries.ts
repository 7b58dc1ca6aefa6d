import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'

/** The number of an org's unfinished uploads, up to `most`, and those of one person among them. */
export const countUploads = async (
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
  { table, isUnfinished }: { table: Sql; isUnfinished: Sql },
  most: number,
): Promise<{ found: number; own: number }> => {
  const row = await db.row<{ found: number; own: number }>(sql`
    select count(*)::int as found, (count(*) filter (where created_by = ${userId}))::int as own from (
      select created_by from ${table} where org_id = ${orgId} and ${isUnfinished} limit ${most}) u`)
  return row ?? { found: 0, own: 0 }
}
