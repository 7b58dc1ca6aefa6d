import type { Db } from '../../platform/database/database.ts'
import { hasAllAccess } from './condition-queries.ts'
import type { Reader } from './condition-queries.ts'
import * as queries from './queries.ts'

/** Guards of files, by id. Files outside of restricted folders are not in it. */
export type Guards = ReadonlyMap<string, readonly string[]>

/** The guards of those of these files and folders that lie in restricted folders, also of deleted ones. */
export const readGuards = async (db: Db, orgId: string, ids: Iterable<string>): Promise<Guards> => {
  const asked = [...new Set(ids)]
  const rows = asked.length === 0 ? [] : await queries.listGuarded(db, orgId, asked)
  return new Map(rows.map(({ id, guards }) => [id, guards]))
}

/** Those of guarded files that are not open to a reader. */
export const listClosed = async (db: Db, reader: Reader, guards: Guards): Promise<ReadonlySet<string>> => {
  if (guards.size === 0 || hasAllAccess(reader)) return new Set()
  const open = new Set(await queries.listOpenFolders(db, reader, 'read'))
  return new Set([...guards].filter(([, needed]) => !needed.every((guard) => open.has(guard))).map(([id]) => id))
}
