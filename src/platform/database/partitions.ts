import type { Log } from '../process/log.ts'
import { raw, sql } from './database.ts'
import type { Database, Db, Transaction } from './database.ts'
import { sqlState } from './errors.ts'

/**
 * A constant upper bound for the limit of a page of a partitioned table: 100 items and one that shows whether there is a
 * next page. Without it, the planner, which does not know the value of the parameter, estimates a tenth of all rows and
 * replans every page over all partitions, which takes two to three times as long as the query.
 */
export const pageBound = sql`limit 101`

/** Creates the missing partitions of all tables: the current and the previous one, and those ahead. */
export const ensurePartitions = async (db: Db): Promise<void> => {
  await db.row(sql`select ensure_partitions()`)
}

interface ExpiredPartition {
  /** Quoted for SQL. */
  name: string
  /** Null for a table that an interrupted run has already detached. */
  endsAt: string | null
  isPending: boolean
  isAttached: boolean
}

// A partition `…_before_…` only holds what was inserted after the months that it covers were dropped. It is replaced when
// the next month is.
const listExpired = (db: Db, table: string, days: number) =>
  db.rows<ExpiredPartition>(sql`
    with expired as (
      select part, ends_at, is_pending, true as is_attached from partition_bounds(${table})
      where ends_at <= now() - ${days} * interval '1 day' or is_pending
    )
    select quote_ident(part) as name, ends_at, is_pending, is_attached from expired
    where exists (select from expired e where e.part not like '%\\_before\\_%')
    union all
    select e.name, null, false, false
    from expired_partitions e join pg_class c on c.oid = to_regclass(e.name) and not c.relispartition
    where e.parent = ${table}
    order by ends_at nulls first`)

const markExpired = (db: Db, table: string, name: string) =>
  db.execute(sql`
    insert into expired_partitions (name, parent) values (${name}, ${table}) on conflict do nothing`)

const unmark = async (db: Db, name: string): Promise<boolean> =>
  (await db.execute(sql`delete from expired_partitions where name = ${name}`)) > 0

// Citus detaches partitions, but not concurrently.
const hasCitus = async (db: Db): Promise<boolean> =>
  (await db.row(sql`select 1 as found from pg_extension where extname = 'citus'`)) !== undefined

const lockTimeoutMs = 100
const attempts = 20
const lockNotAvailable = '55P03'

/** Detaches under a lock that excludes readers, but never waits for it for longer than 100 ms. */
const detachWithLock = async (db: Database, table: string, name: string): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.transaction('all orgs', async (db) => {
        await db.execute(sql`set local lock_timeout = ${raw(String(lockTimeoutMs))}`)
        await db.execute(sql`alter table ${raw(table)} detach partition ${raw(name)}`)
      })
      return
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || attempt === attempts) throw error
      await new Promise((resolve) => setTimeout(resolve, lockTimeoutMs * attempt))
    }
  }
}

/**
 * Detaches a partition. `concurrently` takes no lock that a reader or writer of the table waits for; it waits itself
 * for the transactions that use the table. When it is interrupted, the next run completes it.
 */
const detach = async (db: Database, table: string, { name, isPending }: ExpiredPartition): Promise<void> => {
  if (await hasCitus(db)) return detachWithLock(db, table, name)
  const how = raw(isPending ? 'finalize' : 'concurrently')
  await db.execute(sql`alter table ${raw(table)} detach partition ${raw(name)} ${how}`)
}

export interface Retention {
  /** Whole partitions whose rows are all older are dropped. */
  days: number
  /** Runs before the first partition is detached. All rows before `endsAt` will be removed. */
  beforeDetach?: (endsAt: string) => Promise<void>
  /**
   * Runs in the transaction that drops a partition, oldest first. `name` is the detached table: that of `table` and
   * `_YYYYMM`, `_YYYYMMDD`, `_before_YYYYMMDD` or `_initial`.
   */
  beforeDrop?: (db: Transaction, name: string) => Promise<void>
  /** Whether rows with keys in dropped partitions can still be inserted. They are kept until the next month is dropped. */
  coversPast?: boolean
}

/**
 * Drops the partitions of a table that are older than its retention, and returns their number. Each is detached without
 * blocking anyone, then dropped as a table that nothing uses. Can be interrupted and repeated at any point.
 */
export const dropExpired = async (db: Database, table: string, retention: Retention): Promise<number> => {
  const expired = await listExpired(db, table, retention.days)
  const endsAt = expired.findLast((one) => one.endsAt !== null)?.endsAt
  if (endsAt) await retention.beforeDetach?.(endsAt)
  for (const partition of expired) {
    const { name, isAttached } = partition
    if (isAttached) {
      await markExpired(db, table, name)
      await detach(db, table, partition)
    }
    await db.transaction('all orgs', async (db) => {
      // The row is the lock: of two runs at the same time, one drops the table.
      if (!(await unmark(db, name))) return
      await db.execute(sql`set local statement_timeout = 0`)
      await retention.beforeDrop?.(db, name)
      await db.execute(sql`drop table ${raw(name)}`)
    })
  }
  if (retention.coversPast === true && expired.length > 0) await db.row(sql`select cover_past(${table})`)
  return expired.length
}

const hourMs = 3_600_000

/**
 * Creates missing partitions now and every hour, in every process: API processes must be able to insert when no worker
 * has run for weeks. Returns a function that stops it.
 */
export const keepPartitions = async (db: Db, log: Log, everyMs = hourMs): Promise<() => void> => {
  await ensurePartitions(db)
  let timer: NodeJS.Timeout
  let isStopped = false
  const schedule = (): void => {
    timer = setTimeout(() => {
      ensurePartitions(db)
        .catch((error: unknown) => {
          if (!isStopped) log.warn({ err: error }, 'partitions could not be created and are created later')
        })
        .finally(() => {
          if (!isStopped) schedule()
        })
    }, everyMs).unref()
  }
  schedule()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
