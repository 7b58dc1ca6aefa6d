import type { Actor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { findFile } from '../queries.ts'
import type { FileRow } from '../queries.ts'
import * as queries from './queries.ts'

/** A list of favorites is read as a whole by every list of files, which takes 0.2 ms with this many. */
export const maxFavorites = 1_000

/**
 * Marks a file, folder or link as a favorite of the actor, which only they see. Throws NOT_FOUND, and BAD_REQUEST when
 * they have too many.
 */
export const addFavorite = (database: Database, actor: Actor, id: string): Promise<FileRow> =>
  database.transaction(actor, async (db) => {
    const file = await findFile(db, actor, id)
    if (!file) throw notFound('File')
    if ((await queries.insertFavorite(db, actor, id, maxFavorites)) || (await queries.isFavorite(db, actor, id))) {
      return file
    }
    await queries.deleteOwnPurged(db, actor)
    if (await queries.insertFavorite(db, actor, id, maxFavorites)) return file
    throw badRequest(`You can have at most ${maxFavorites.toLocaleString('en')} favorites. Remove some first.`)
  })

/** The opposite of addFavorite. A file that is none stays as it is. Throws NOT_FOUND. */
export const removeFavorite = async (database: Database, actor: Actor, id: string): Promise<void> => {
  if (!(await findFile(database, actor, id))) throw notFound('File')
  await queries.deleteFavorite(database, actor, id)
}
