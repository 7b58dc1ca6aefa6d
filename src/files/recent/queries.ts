import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { mayRead } from '../access/condition-queries.ts'
import { favoriteIds } from '../favorites/queries.ts'
import { readColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'

export type RecentRow = FileRow & {
  favorite: boolean
  /** When the person last uploaded, changed or opened it. */
  recentAt: string
  /** The same with microseconds, for the cursor. */
  recentExactly: string
}

/**
 * The files that a person uploaded, changed or opened last, the latest first. Of each kind it reads `most` rows by an
 * index; those that are deleted or not open to the person are left out after that.
 */
export const listRecent = (db: Db, actor: Actor, { most, limit }: { most: number; limit: number }) =>
  db.rows<RecentRow>(sql`
    with used as materialized (
      (select r.file_id, r.used_at from recent_files r
        where r.org_id = ${actor.orgId} and r.user_id = ${actor.userId}
        order by r.used_at desc limit ${most})
      union all
      (select c.id, c.created_at from files c
        where c.org_id = ${actor.orgId} and c.created_by = ${actor.userId} and c.deleted_at is null
        order by c.id desc limit ${most})
    ), latest as (
      select file_id, max(used_at) as used_at from used group by file_id
    )
    select ${readColumns(actor)}, f.id = any(${favoriteIds(actor)}) as favorite, latest.used_at as recent_at,
      latest.used_at::text as recent_exactly
    from latest join files f on f.org_id = ${actor.orgId} and f.id = latest.file_id
    where f.deleted_at is null and f.listing_rank = 1 and f.status = 'ready' and ${mayRead(actor)}
    order by latest.used_at desc, f.id desc limit ${limit}`)

/**
 * Notes that a person uses a file now, unless they did within the last minutes, and forgets all but `most` of their files.
 * Rows that another transaction of the person has locked are left to it, so that two of them do not wait for each other.
 */
export const insertRecent = (db: Transaction, { orgId, userId }: Actor, fileId: string, most: number) =>
  db.execute(sql`
    with forgotten as (
      delete from recent_files where org_id = ${orgId} and user_id = ${userId} and file_id in (
        select r.file_id from recent_files r
        where r.org_id = ${orgId} and r.user_id = ${userId} and r.used_at < (
          select x.used_at from recent_files x where x.org_id = ${orgId} and x.user_id = ${userId}
          order by x.used_at desc offset ${most - 2} limit 1)
          and r.file_id <> ${fileId}
        for update skip locked)
    )
    insert into recent_files (org_id, user_id, file_id)
    select ${orgId}::uuid, ${userId}::uuid, ${fileId}::uuid
    where not exists (
      select from recent_files r where r.org_id = ${orgId} and r.user_id = ${userId} and r.file_id = ${fileId}
        and r.used_at > now() - interval '5 minutes')
    on conflict (org_id, user_id, file_id) do update set used_at = excluded.used_at`)

/** Forgets the use of files that are deleted for good. */
export const deletePurged = (db: Db) =>
  db.execute(sql`
    -- all orgs: a daily job of the server
    delete from recent_files r where exists (
      select from files f
      where f.org_id = r.org_id and f.id = r.file_id and f.deleted_at is not null and f.trash_id is null)`)
