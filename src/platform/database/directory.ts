import { sql } from './database.ts'
import type { Db } from './database.ts'

/** What an id that arrives without its org identifies: the row's table, or the provider's name for it. */
export type DirectoryKind =
  | 'webhook'
  | 'endpoint'
  | 'oauth_state'
  | 'checkout'
  | 'payment'
  | 'subscription'
  | 'topup'
  | 'topup_payment'
  | 'linear'

/** The org that owns an id, or undefined. The id may be stale: the caller then finds no row in that org. */
export const findOrgOf = async (db: Db, kind: DirectoryKind, key: string): Promise<string | undefined> => {
  const row = await db.row<{ orgId: string }>(sql`
    -- all orgs: the directory tells the org of an id that arrives without one
    select org_id from directory where kind = ${kind} and key = ${key}`)
  return row?.orgId
}

/**
 * Enters an id, in the transaction that writes its row, and returns the org that owns it: another org's when that one
 * entered it first. In a transaction of one org an id of another org is an error (42501).
 */
export const claimKey = async (db: Db, kind: DirectoryKind, key: string, orgId: string): Promise<string> => {
  const row = await db.row<{ orgId: string }>(sql`
    insert into directory (kind, key, org_id) values (${kind}, ${key}, ${orgId})
    on conflict (kind, key) do update set org_id = directory.org_id
    returning org_id`)
  if (!row) throw new Error('an insert with DO UPDATE returned no row')
  return row.orgId
}

/** Removes ids, in the transaction that deletes their rows. */
export const releaseKeys = (db: Db, kind: DirectoryKind, orgId: string, keys: readonly string[]) =>
  db.execute(sql`delete from directory where kind = ${kind} and key = any(${keys}) and org_id = ${orgId}`)

/** Removes the ids of flows that were begun more than this many seconds ago, whether they ended or not. */
export const expireKeys = (db: Db, kind: 'oauth_state', seconds: number) =>
  db.execute(sql`
    -- all orgs: a periodic job of the server
    delete from directory where kind = ${kind} and created_at < now() - ${seconds} * interval '1 second'`)

const maxKnown = 10_000
const known = new WeakMap<Db, Map<string, string>>()

/**
 * `findOrgOf` with a cache of 10,000 ids for each handle, for ids whose org never changes. So receiving an event reads
 * one row, as if its URL named the org. Unknown ids are not cached, so that invented ones fill nothing.
 */
export const recallOrgOf = async (db: Db, kind: 'webhook' | 'endpoint', key: string): Promise<string | undefined> => {
  let orgs = known.get(db)
  if (!orgs) known.set(db, (orgs = new Map()))
  const cached = orgs.get(key)
  if (cached !== undefined) return cached
  const orgId = await findOrgOf(db, kind, key)
  if (orgId === undefined) return undefined
  const oldest = orgs.size >= maxKnown ? orgs.keys().next().value : undefined
  if (oldest !== undefined) orgs.delete(oldest)
  orgs.set(key, orgId)
  return orgId
}
