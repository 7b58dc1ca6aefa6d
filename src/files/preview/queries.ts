import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export interface PreviewRow {
  payload: Buffer | null
  refusal: string | null
}

export interface PreviewKey {
  /** SHA-256 of the bytes, in hex. */
  contentHash: string
  format: string
  version: number
}

/** A rejection is valid for an hour only, because an overloaded machine may have caused it. */
export const findPreview = (db: Db, actor: Pick<Actor, 'orgId'>, { contentHash, format, version }: PreviewKey) =>
  db.row<PreviewRow>(sql`
    select p.payload, p.refusal
    from blobs b join previews p on p.org_id = b.org_id and p.blob_id = b.id
    where b.org_id = ${actor.orgId} and b.sha256 = decode(${contentHash}, 'hex') and b.state = 'live'
      and p.format = ${format} and p.version = ${version}
      and (p.refusal is null or p.created_at > now() - interval '1 hour')`)

/** Stores nothing when the blob is deleted. */
export const upsertPreview = (db: Db, actor: Pick<Actor, 'orgId'>, key: PreviewKey, { payload, refusal }: PreviewRow) =>
  db.execute(sql`
    insert into previews (org_id, blob_id, format, version, payload, refusal)
    select b.org_id, b.id, ${key.format}, ${key.version}, ${payload}::bytea, ${refusal}::text
    from blobs b
    where b.org_id = ${actor.orgId} and b.sha256 = decode(${key.contentHash}, 'hex') and b.state = 'live'
    for key share
    on conflict (org_id, blob_id, format) do update
    set version = excluded.version, payload = excluded.payload, refusal = excluded.refusal, created_at = excluded.created_at`)

/** How the format of an image begins. */
export const imagePrefix = 'image '

/**
 * Deletes the org's oldest images, or previews of other kinds, beyond `maxBytes`, and those older than 30 days. Each image
 * counts 4 kB more than its size, so that their number is bounded as well.
 */
export const deleteOldPreviews = (
  db: Db,
  actor: Pick<Actor, 'orgId'>,
  { isImage, maxBytes }: { isImage: boolean; maxBytes: number },
) =>
  db.execute(sql`
    delete from previews p using (
      select org_id, blob_id, format, created_at,
        sum(coalesce(octet_length(payload), 0) + ${isImage ? 4_096 : 200}::int)
          over (order by created_at desc) as total_bytes
      from previews where org_id = ${actor.orgId} and starts_with(format, ${imagePrefix}) = ${isImage}::boolean
    ) o
    where p.org_id = ${actor.orgId} and (p.org_id, p.blob_id, p.format) = (o.org_id, o.blob_id, o.format)
      and (o.total_bytes > ${maxBytes} or o.created_at < now() - interval '30 days')`)
