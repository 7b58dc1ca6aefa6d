import type { Actor } from '../../identity/actor.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as favoriteQueries from '../favorites/queries.ts'
import { filterOf } from '../listing/filters.ts'
import { withPaths } from '../listing/listing.ts'
import type { FilePage } from '../listing/listing.ts'
import { findFile } from '../queries.ts'
import type { FileRow } from '../queries.ts'
import type { FileListQuery } from '../schemas.ts'
import * as queries from './queries.ts'

/** More are kept than listed, for those that are deleted or restricted later. */
const maxKept = 200
const maxListed = 100

/** Notes that the actor has changed a file. Folders are not among the recent files. */
export const noteChange = async (db: Transaction, actor: Actor, { id, source }: FileRow): Promise<void> => {
  if (source !== 'folder') await queries.insertRecent(db, actor, id, maxKept)
}

/** Notes that the actor has opened a file. Throws NOT_FOUND, and BAD_REQUEST for a folder. */
export const noteOpened = (database: Database, actor: Actor, id: string): Promise<FileRow> =>
  database.transaction(actor, async (db) => {
    const file = await findFile(db, actor, id)
    if (!file) throw notFound('File')
    if (file.source === 'folder') throw badRequest('A folder cannot be a recent file.')
    await queries.insertRecent(db, actor, id, maxKept)
    return file
  })

/** A page of the files that the actor uploaded, changed or opened last, the latest first. */
export const listRecent = async (db: Db, actor: Actor, query: FileListQuery): Promise<FilePage> => {
  const { page, limit, cursor, sort, order, parentId, projectId } = query
  const others = [sort, order, parentId, projectId, query.search, filterOf(query)]
  if (query.recursive || others.some((value) => value !== undefined)) {
    throw badRequest('recent cannot be combined with sort, order, parentId, projectId, search, recursive or a filter')
  }
  const after = cursor === undefined ? undefined : decodeCursor(cursor, ['timestamp', 'uuid'])
  const rows = await queries.listRecent(db, actor, { most: maxKept, limit: maxListed })
  const isAfter = ({ recentExactly, id }: queries.RecentRow, [at, lastId]: readonly [string, string]): boolean =>
    recentExactly === at ? id < lastId : recentExactly < at
  const begin = after === undefined ? (page - 1) * limit : rows.findIndex((row) => isAfter(row, after))
  const listed = begin === -1 ? [] : rows.slice(begin, begin + limit)
  const last = listed.at(-1)
  const hasMore = last !== undefined && last !== rows.at(-1)
  return {
    items: await withPaths(db, actor, listed),
    page,
    limit,
    total: rows.length,
    hasMore,
    nextCursor: hasMore ? encodeCursor([last.recentExactly, last.id]) : null,
  }
}

const daily = defineJob<Record<string, never>>('files.forget-purged', { retryLimit: 2 })

export const registerViewJobs = (worker: Pick<Jobs, 'work' | 'schedule'>, { db }: { db: Database }): void => {
  worker.work(daily, async () => {
    await favoriteQueries.deletePurged(db)
    await queries.deletePurged(db)
  })
  worker.schedule(daily, '11 3 * * *')
}
