import { forbidden, notFound } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Transaction } from '../../platform/database/database.ts'
import * as queries from './queries.ts'

/** The error for somebody who may see a file and not change it. */
export const readOnly = (): ApiError => forbidden('You may read this, but not change it.')

/** A row that was found, and that the actor may change. Throws NOT_FOUND, or FORBIDDEN when they may only read it. */
export const requireWritable = <T extends { isWritable: boolean }>(row: T | undefined, what = 'File'): T => {
  if (!row) throw notFound(what)
  if (!row.isWritable) throw readOnly()
  return row
}

interface Guarded {
  id: string
  guards: string[] | null
}

/** Whether a folder is restricted itself. */
export const isRestricted = ({ id, guards }: Guarded): boolean => guards?.includes(id) === true

/** The restricted folders that contain a file, without itself. */
export const guardsAbove = ({ id, guards }: Guarded): string[] => (guards ?? []).filter((guard) => guard !== id)

/** The guards of a file, or of a folder that keeps its own restriction, in a folder with these guards. */
export const guardsOf = (file: Guarded, above: readonly string[] | null): string[] | null => {
  const guards = [...(above ?? []), ...(isRestricted(file) ? [file.id] : [])]
  return guards.length === 0 ? null : guards
}

/**
 * Gives everything below a folder, level by level, the guards that follow from those of the folder, also what is in the
 * trash. The caller has locked the folder and the live ones below it, so that nothing is put into them meanwhile, and holds
 * the lock of lockMoves, under which folders return from the trash.
 */
export const inheritGuards = async (db: Transaction, orgId: string, folderId: string): Promise<void> => {
  const restricted = (await queries.listRestricted(db, orgId)).map(({ id }) => id)
  let level = [folderId]
  while (level.length > 0) {
    await queries.inheritLive(db, orgId, level, restricted)
    await queries.inheritTrashed(db, orgId, level, restricted)
    level = (await queries.listSubfolders(db, orgId, level)).map(({ id }) => id)
  }
}
