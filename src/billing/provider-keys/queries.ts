import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export interface ProviderKeyRow {
  id: string
  provider: string
  label: string | null
  fingerprint: string
  createdAt: string
}

const columns = sql`id, provider, label, fingerprint, created_at`

export const insertKey = (
  db: Db,
  orgId: string,
  key: Omit<ProviderKeyRow, 'createdAt'> & { sealedKey: string; createdBy: string },
) =>
  db.row<ProviderKeyRow>(sql`
    insert into provider_keys (org_id, id, provider, label, fingerprint, sealed_key, created_by)
    values (${orgId}, ${key.id}, ${key.provider}, ${key.label}, ${key.fingerprint}, ${key.sealedKey}, ${key.createdBy})
    returning ${columns}`)

export const listKeys = (db: Db, orgId: string, limit: number, before: { createdAt: string; id: string } | undefined) =>
  db.rows<ProviderKeyRow & { createdAtExactly: string }>(sql`
    select ${columns}, created_at::text as created_at_exactly from provider_keys
    where org_id = ${orgId}
      ${before === undefined ? sql`` : sql`and (created_at, id) < (${before.createdAt}::timestamptz, ${before.id}::uuid)`}
    order by created_at desc, id desc limit ${limit}`)

export const deleteKey = (db: Db, orgId: string, id: string) =>
  db.row<ProviderKeyRow>(sql`delete from provider_keys where org_id = ${orgId} and id = ${id} returning ${columns}`)

/** The newest key for a provider. */
export const findKeyOf = (db: Db, orgId: string, provider: string) =>
  db.row<{ id: string }>(sql`
    select id from provider_keys where org_id = ${orgId} and provider = ${provider}
    order by created_at desc limit 1`)

export const findSealed = (db: Db, orgId: string, id: string) =>
  db.row<{ sealedKey: string }>(sql`select sealed_key from provider_keys where org_id = ${orgId} and id = ${id}`)
