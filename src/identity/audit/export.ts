import type { Db } from '../../platform/database/database.ts'
import { csvLine } from '../../platform/text/csv.ts'
import type { Actor } from '../actor.ts'
import { toEntry } from './entry.ts'
import * as queries from './queries.ts'
import type { AuditFilter, AuditRow } from './queries.ts'

/** A query returns at most 101 rows, see `pageBound`. */
const pageSize = 100
/** The newest entries are exported; older ones can be had with `until`. */
export const maxExported = 100_000

const columns = [
  'id',
  'at',
  'actorId',
  'actorName',
  'apiKeyId',
  'action',
  'resourceType',
  'resourceId',
  'details',
  'ip',
  'requestId',
  'seq',
  'hash',
]

const csvOf = (row: AuditRow): string =>
  csvLine([
    row.id,
    row.at,
    row.userId,
    row.actorName,
    row.apiKeyId,
    row.action,
    row.resourceType,
    row.resourceId,
    JSON.stringify(row.details),
    row.ip,
    row.requestId,
    row.seq === null ? null : Number(row.seq),
    row.hash,
  ])

/** The entries that match, newest first, as text: CSV with a header, or JSON with one entry per line. */
export const exportEntries = async function* (
  db: Db,
  actor: Actor,
  filter: AuditFilter,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns)
  let after: [string, string] | undefined
  for (let exported = 0; exported < maxExported; exported += pageSize) {
    const rows = await queries.listEntries(db, actor, filter, { limit: pageSize, after })
    yield rows.map((row) => (format === 'csv' ? csvOf(row) : `${JSON.stringify(toEntry(row))}\n`)).join('')
    const last = rows.at(-1)
    if (rows.length < pageSize || !last) return
    after = [last.atExactly, last.id]
  }
}
