import { empty, sql } from '../platform/database.ts'
import type { Db, Sql } from '../platform/database.ts'
import type { Actor } from '../identity/actor.ts'
import { fileColumns } from './queries.ts'
import type { FileRow } from './queries.ts'

export type ListedRow = FileRow & { nameKey: string }

/** The place of a row in its list. */
export interface Position {
  rank: number
  nameKey: string
  id: string
}

/** What part of a list is asked for: so many rows after a position, or after so many rows. */
export interface Window {
  limit: number
  after: Position | undefined
  offset: number
}

const order = sql`listing_rank, name_key, id`

const afterPosition = (after: Position | undefined): Sql =>
  after === undefined
    ? empty
    : sql`and (listing_rank, name_key, id) > (${after.rank}::smallint, ${after.nameKey}, ${after.id}::uuid)`

/** How many live children a folder has; the org's id stands for the root. Exact, and does not count them. */
export const countListed = async (db: Db, actor: Actor, containerId: string): Promise<number> => {
  const row = await db.row<{ total: bigint }>(sql`
    select coalesce(sum(children), 0)::bigint as total from folder_counts
    where org_id = ${actor.orgId} and folder_id = ${containerId}`)
  return Number(row?.total ?? 0n)
}

/**
 * A window of a folder, in order. The rows are found in the index alone and only those of the window are fetched: the
 * five-thousandth page costs 0.1 s instead of 1.8 s, and any page by position the same as the first.
 */
export const listFolder = (db: Db, actor: Actor, containerId: string, { limit, after, offset }: Window) =>
  db.rows<ListedRow>(sql`
    select ${fileColumns}, f.name_key
    from (
      select id from files
      where org_id = ${actor.orgId} and container_id = ${containerId} and deleted_at is null ${afterPosition(after)}
      order by ${order} offset ${offset} limit ${limit}
    ) page
      join files f on f.org_id = ${actor.orgId} and f.id = page.id
    order by f.listing_rank, f.name_key, f.id`)

/** A folder and all folders below it. */
const foldersBelow = (actor: Actor, containerId: string): Sql => sql`
  with recursive down (id) as (
    select ${containerId}::uuid
    union all
    select f.id from down join files f on f.org_id = ${actor.orgId} and f.container_id = down.id
      and f.listing_rank = 0 and f.deleted_at is null
  )
  select id from down`

// Upwards from where the matches are: there are few of them, and the tree may be large.
const onlyBelow = (actor: Actor, containerId: string): Sql => sql`
  where container_id in (
    with recursive up (start, id) as (
      select distinct container_id, container_id from matches
      union all
      select up.start, f.container_id from up join files f on f.org_id = ${actor.orgId} and f.id = up.id
      where up.id <> ${containerId}
    )
    select start from up where id = ${containerId}
  )`

export interface Search {
  pattern: string
  /** Look in the trigram index of the whole org first, instead of reading the folder's list. */
  indexed: boolean
  containerId: string
  recursive: boolean
}

const found = (actor: Actor, { pattern, indexed, containerId, recursive }: Search): Sql => {
  const whole = recursive && containerId === actor.orgId
  if (indexed) {
    const inside = recursive ? onlyBelow(actor, containerId) : sql`where container_id = ${containerId}`
    return sql`
      with matches as materialized (
        select id, container_id, listing_rank, name_key from files
        where org_id = ${actor.orgId} and name_key like ${pattern} and deleted_at is null
      ),
      found as materialized (select * from matches ${whole ? empty : inside})`
  }
  const folders = recursive ? foldersBelow(actor, containerId) : sql`select ${containerId}::uuid`
  // `|| ''` keeps the planner, which sees no pattern in a prepared statement, from reading the whole trigram index
  // for two letters.
  return sql`
    with found as materialized (
      select id, listing_rank, name_key from files
      where org_id = ${actor.orgId} and name_key || '' like ${pattern} and deleted_at is null
        ${whole ? empty : sql`and container_id in (${folders})`}
    )`
}

/** A window of what a search finds, and how many it finds in all. */
export const searchFiles = async (
  db: Db,
  actor: Actor,
  search: Search,
  { limit, after, offset }: Window,
): Promise<{ rows: ListedRow[]; total: number }> => {
  const rows = await db.rows<ListedRow & { total: bigint }>(sql`
    ${found(actor, search)}
    select ${fileColumns}, f.name_key, counted.total
    from (select count(*) as total from found) counted
      left join (
        select id from found where true ${afterPosition(after)} order by ${order} offset ${offset} limit ${limit}
      ) page on true
      left join files f on f.org_id = ${actor.orgId} and f.id = page.id
    order by f.listing_rank, f.name_key, f.id`)
  return { rows: rows.filter((row) => row.id !== null), total: Number(rows[0]?.total ?? 0n) }
}
