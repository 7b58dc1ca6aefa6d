import type { Actor } from '../../../identity/actor.ts'
import { sql } from '../../../platform/database/database.ts'
import type { Db, Transaction } from '../../../platform/database/database.ts'

export interface LockRow {
  /** The token, without `urn:uuid:`. */
  id: string
  /** The locked file or folder; the id of the org for its root folder. */
  fileId: string
  isShared: boolean
  isDeep: boolean
  owner: string
  createdBy: string
  /** Until it expires. */
  secondsLeft: number
}

/** The locks of an org that have not expired. */
export const listLocks = (db: Db, { orgId }: Pick<Actor, 'orgId'>) =>
  db.rows<LockRow>(sql`
    select id, file_id, is_shared, is_deep, owner, created_by,
      ceil(extract(epoch from expires_at - now()))::int as seconds_left
    from webdav_locks where org_id = ${orgId} and expires_at > now() order by id`)

/** Writes hold this lock together, so that none of them runs while a lock is created. */
export const shareLocks = (db: Transaction, { orgId }: Pick<Actor, 'orgId'>) =>
  db.execute(sql`select pg_advisory_xact_lock_shared(hashtextextended('webdav locks ' || ${orgId}, 0))`)

/** Waits until no write of the org runs, and keeps others waiting. */
export const claimLocks = (db: Transaction, { orgId }: Pick<Actor, 'orgId'>) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('webdav locks ' || ${orgId}, 0))`)

export type NewLock = Omit<LockRow, 'createdBy' | 'secondsLeft'> & { seconds: number }

export const insertLock = (db: Transaction, actor: Actor, lock: NewLock) =>
  db.execute(sql`
    insert into webdav_locks (org_id, id, file_id, is_shared, is_deep, owner, created_by, seconds, expires_at)
    values (${actor.orgId}, ${lock.id}, ${lock.fileId}, ${lock.isShared}, ${lock.isDeep}, ${lock.owner}, ${actor.userId},
      ${lock.seconds}, now() + make_interval(secs => ${lock.seconds}::int))`)

export const refreshLocks = (db: Transaction, orgId: string, ids: string[], seconds: number) =>
  db.execute(sql`
    update webdav_locks set seconds = ${seconds}, expires_at = now() + make_interval(secs => ${seconds}::int)
    where org_id = ${orgId} and id = any(${ids}::uuid[]) and expires_at > now()`)

export const deleteLocks = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`delete from webdav_locks where org_id = ${orgId} and id = any(${ids}::uuid[])`)

/** The locks of a file that another one replaces are then locks of that. */
export const moveLocks = (db: Transaction, orgId: string, fileId: string, toFileId: string) =>
  db.execute(sql`update webdav_locks set file_id = ${toFileId} where org_id = ${orgId} and file_id = ${fileId}`)

export const deleteExpiredOfOrg = (db: Transaction, orgId: string) =>
  db.execute(sql`delete from webdav_locks where org_id = ${orgId} and expires_at <= now()`)

export const deleteExpired = (db: Db) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    delete from webdav_locks where expires_at <= now()`)
