import sql, { join, raw } from 'sql-template-tag'
import type { Sql } from 'sql-template-tag'

type Execute = (statement: Sql) => Promise<unknown>

interface OrgRow {
  orgId: string
}

/** A table whose rows the last statement of a transaction inserts. */
export interface DeferredInsert<Row extends OrgRow> {
  /** An insert of these rows, which are of one org where tables are distributed by org. There is at least one. */
  insert(rows: readonly Row[]): Sql
}

/**
 * Rows that no statement of their transaction reads, such as audit entries and events. They are inserted just before the
 * commit by one statement for all tables, so that they cost one round trip together.
 */
export interface DeferredRows {
  add<Row extends OrgRow>(target: DeferredInsert<Row>, row: Row): void
  write(execute: Execute, isDistributed: () => Promise<boolean>): Promise<void>
}

type Target = DeferredInsert<OrgRow>

const insertTogether = async (execute: Execute, rows: ReadonlyMap<Target, OrgRow[]>): Promise<void> => {
  const inserts = Array.from(rows, ([target, ofTarget]) => target.insert(ofTarget))
  const last = inserts.pop()
  if (!last) return
  const others = inserts.map((insert, index) => sql`${raw(`deferred_${index}`)} as (${insert})`)
  await execute(others.length === 0 ? last : sql`with ${join(others, ', ')} ${last}`)
}

export const createDeferredRows = (): DeferredRows => {
  const byTarget = new Map<Target, OrgRow[]>()
  return {
    add: (target, row) => {
      const rows = byTarget.get(target)
      if (rows) rows.push(row)
      else byTarget.set(target, [row])
    },
    write: async (execute, isDistributed) => {
      if (byTarget.size === 0) return
      const orgs = new Set([...byTarget.values()].flat().map(({ orgId }) => orgId))
      if (orgs.size === 1 || !(await isDistributed())) {
        await insertTogether(execute, byTarget)
        return
      }
      for (const org of orgs) {
        const ofOrg = Array.from(
          byTarget,
          ([target, rows]) => [target, rows.filter(({ orgId }) => orgId === org)] as const,
        )
        await insertTogether(execute, new Map(ofOrg.filter(([, rows]) => rows.length > 0)))
      }
    },
  }
}
