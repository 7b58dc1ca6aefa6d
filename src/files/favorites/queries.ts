import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'

type Person = Pick<Actor, 'orgId' | 'userId'>

/** The favorites of a person. A subquery of its own, which PostgreSQL evaluates once for a list. */
export const favoriteIds = ({ orgId, userId }: Person): Sql => sql`array(
  select v.file_id from file_favorites v where v.org_id = ${orgId} and v.user_id = ${userId})`

/** Returns false when it is one already, and when the person has `most` of them. */
export const insertFavorite = async (
  db: Transaction,
  { orgId, userId }: Person,
  fileId: string,
  most: number,
): Promise<boolean> => {
  const inserted = await db.execute(sql`
    insert into file_favorites (org_id, user_id, file_id)
    select ${orgId}::uuid, ${userId}::uuid, ${fileId}::uuid
    where (select count(*) from file_favorites v where v.org_id = ${orgId} and v.user_id = ${userId}) < ${most}::int
    on conflict (org_id, user_id, file_id) do nothing`)
  return inserted > 0
}

export const isFavorite = async (db: Db, { orgId, userId }: Person, fileId: string): Promise<boolean> => {
  const row = await db.row(sql`
    select 1 from file_favorites v
    where v.org_id = ${orgId} and v.user_id = ${userId} and v.file_id = ${fileId}`)
  return row !== undefined
}

export const deleteFavorite = (db: Db, { orgId, userId }: Person, fileId: string) =>
  db.execute(sql`
    delete from file_favorites where org_id = ${orgId} and user_id = ${userId} and file_id = ${fileId}`)

/** Deletes the favorites of a person whose files are deleted for good. */
export const deleteOwnPurged = (db: Transaction, { orgId, userId }: Person) =>
  db.execute(sql`
    delete from file_favorites v
    where v.org_id = ${orgId} and v.user_id = ${userId} and exists (
      select from files f
      where f.org_id = ${orgId} and f.id = v.file_id and f.deleted_at is not null and f.trash_id is null)`)

/** The same for everybody. */
export const deletePurged = (db: Db) =>
  db.execute(sql`
    -- all orgs: a daily job of the server
    delete from file_favorites v where exists (
      select from files f
      where f.org_id = v.org_id and f.id = v.file_id and f.deleted_at is not null and f.trash_id is null)`)
