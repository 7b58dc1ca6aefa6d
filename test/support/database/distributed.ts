// Differences of tests on the tables of a Citus cluster.
import { sql } from '../../../src/platform/database/database.ts'
import type { Database, Db } from '../../../src/platform/database/database.ts'

/** Whether tables are on one server. If not, the summary of the run names what is left out, and why. */
export const onOneServer = async (db: Database, tests: string, why: string): Promise<boolean> => {
  if (!(await db.isDistributed())) return true
  console.log(`left out: ${tests} on distributed tables (${why})`)
  return false
}

/** The number of statements of this database that wait for a lock, on all servers. `db` may be a transaction. */
export const waitingForLocks = async (database: Database, db: Db = database): Promise<number> => {
  const row = (await database.isDistributed())
    ? await db.row<{ count: number }>(sql`
        select count(*)::int as count from citus_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`)
    : await db.row<{ count: number }>(sql`
        select count(*)::int as count from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`)
  return row?.count ?? 0
}
