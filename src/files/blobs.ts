import type { Database } from '../platform/database.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import * as queries from './blob-queries.ts'
import { storageKeyOf } from './uploads.ts'

const batch = 500
const deletesAtOnce = 8

/** Condemns the blobs that only deleted files still point at. */
const condemnUnused = async (db: Database, orgId: string): Promise<void> => {
  for (;;) {
    const ids = (await queries.listUnreleased(db, orgId, batch)).map(({ id }) => id)
    if (ids.length === 0) return
    await db.transaction(async (db) => {
      await queries.lockBlobs(db, orgId, ids)
      // A statement of its own: it sees what was committed while the locks were waited for.
      await queries.condemnOrphans(db, orgId, ids)
      await queries.releaseBlobs(db, orgId, ids)
    })
  }
}

const deleteObjects = async (objects: ObjectStore, orgId: string, ids: string[]): Promise<void> => {
  const left = [...ids]
  const work = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await objects.delete(storageKeyOf(orgId, id))
  }
  await Promise.all(Array.from({ length: deletesAtOnce }, work))
}

/**
 * Removes the bytes that no file of the org uses any more: the object first, then the row that knows of it. May be cut
 * off anywhere and run again, and by several processes at once.
 */
export const releaseUnused = async (db: Database, objects: ObjectStore, orgId: string): Promise<void> => {
  await condemnUnused(db, orgId)
  for (;;) {
    const ids = (await queries.listCondemned(db, orgId, batch)).map(({ id }) => id)
    if (ids.length === 0) return
    await deleteObjects(objects, orgId, ids)
    await queries.deleteCondemned(db, orgId, ids)
  }
}
