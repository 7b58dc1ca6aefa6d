import type { Actor } from '../../identity/actor.ts'
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Sql } from '../../platform/database/database.ts'
import { favoriteIds } from '../favorites/queries.ts'

/** From `since` on, before `until`. */
export interface Period {
  since: string | undefined
  until: string | undefined
}

/** What the files of a list have in common. */
export interface Filter {
  isFolder: boolean
  /** Only favorites of the person. */
  isFavorite: boolean
  /** Media types. */
  types: readonly string[] | undefined
  tag: string | undefined
  createdBy: string | undefined
  created: Period
  updated: Period
}

const within = (column: Sql, { since, until }: Period): Sql[] => [
  ...(since === undefined ? [] : [sql`${column} >= ${since}::timestamptz`]),
  ...(until === undefined ? [] : [sql`${column} < ${until}::timestamptz`]),
]

/** The conditions of a filter on the table `files`, beginning with `and`. */
export const filterCondition = (
  { orgId, userId }: Pick<Actor, 'orgId' | 'userId'>,
  filter: Filter | undefined,
): Sql => {
  if (filter === undefined) return empty
  const { isFolder, isFavorite, types, tag, createdBy, created, updated } = filter
  const conditions = [
    ...(isFavorite ? [sql`id = any(${favoriteIds({ orgId, userId })})`] : []),
    ...(isFolder ? [sql`listing_rank = 0`] : []),
    ...(types === undefined ? [] : [sql`listing_rank = 1 and mime_type collate "C" = any(${types}::text[])`]),
    // As in the index files_by_tag.
    ...(tag === undefined
      ? []
      : [sql`tags <> '{}' and file_tag_keys(org_id, tags) @> ${[orgId.slice(-12) + tag]}::text[]`]),
    ...(createdBy === undefined ? [] : [sql`created_by = ${createdBy}`]),
    ...within(sql`created_at`, created),
    // The rank precedes the time in the index files_by_change.
    ...within(sql`listing_rank in (0, 1) and updated_at`, updated),
  ]
  return conditions.length === 0 ? empty : sql`and ${join(conditions, ' and ')}`
}
