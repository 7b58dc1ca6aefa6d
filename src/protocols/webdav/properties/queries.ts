import { sql } from '../../../platform/database/database.ts'
import type { Db, Transaction } from '../../../platform/database/database.ts'

/** A property that a client has set. `value` is the whole element as XML. */
export interface DeadProperty {
  namespace: string
  name: string
  value: string
}

export const listProperties = (db: Db, orgId: string, fileIds: readonly string[]) =>
  db.rows<{ fileId: string; properties: DeadProperty[] }>(sql`
    select file_id, properties from webdav_properties where org_id = ${orgId} and file_id = any(${fileIds}::uuid[])`)

/** Locks the properties of a file, also of one that has none: an empty row is inserted, which must be changed or deleted. */
export const lockProperties = (db: Transaction, orgId: string, fileId: string) =>
  db.row<{ properties: DeadProperty[] }>(sql`
    insert into webdav_properties (org_id, file_id, properties) values (${orgId}, ${fileId}, '[]')
    on conflict (org_id, file_id) do update set properties = webdav_properties.properties
    returning properties`)

export const setProperties = (db: Transaction, orgId: string, fileId: string, properties: readonly DeadProperty[]) =>
  db.execute(sql`
    insert into webdav_properties (org_id, file_id, properties)
    values (${orgId}, ${fileId}, ${JSON.stringify(properties)}::jsonb)
    on conflict (org_id, file_id) do update set properties = excluded.properties, updated_at = excluded.updated_at`)

export const deleteProperties = (db: Transaction, orgId: string, fileId: string) =>
  db.execute(sql`delete from webdav_properties where org_id = ${orgId} and file_id = ${fileId}`)

/** Gives copies the properties of their originals, by the ids of these. */
export const copyProperties = (db: Transaction, orgId: string, copies: ReadonlyMap<string, string>) =>
  db.execute(sql`
    insert into webdav_properties (org_id, file_id, properties)
    select ${orgId}::uuid, c.to_id, p.properties
    from unnest(${[...copies.keys()]}::uuid[], ${[...copies.values()]}::uuid[]) as c (from_id, to_id)
      join webdav_properties p on p.org_id = ${orgId} and p.file_id = c.from_id`)

/** Deletes properties of files that have left the trash. Returns their number. */
export const deletePurged = (db: Db, limit: number) =>
  db.execute(sql`
    -- all orgs: a daily job of the server
    delete from webdav_properties p using (
      select p.org_id, p.file_id from webdav_properties p
        join files f on f.org_id = p.org_id and f.id = p.file_id
      where f.deleted_at is not null and f.trash_id is null limit ${limit}
    ) gone
    where p.org_id = gone.org_id and p.file_id = gone.file_id`)
