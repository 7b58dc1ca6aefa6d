import type { Actor } from '../../identity/actor.ts'
import { mayRead } from '../access/condition-queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { byId, untaggedColumns } from '../queries.ts'
import type { FileRow, Source } from '../queries.ts'
import { largeOf, sizeOf, smallOf } from '../size-queries.ts'
import type { ResolvedPlace } from '../tree/tree.ts'

/** A file to copy. The content of a link is that of its target. */
export interface CopiedRow {
  id: string
  parentId: string | null
  source: Source
  revision: number
  name: string
  mimeType: string | null
  size: number
  blobId: string | null
  contentHash: string | null
  isUntrusted: boolean
  contentBy: string
  namedBy: string
  /** Of the original and, for a link, of its target. */
  guards: string[] | null
  targetGuards: string[] | null
  level: number
}

/** A file, or a folder with everything in it that is open to the actor and has bytes, from the top down; at most `limit` rows. */
export const listTree = (db: Transaction, actor: Actor, id: string, limit: number) =>
  db.rows<CopiedRow>(sql`
    with recursive down (id, source, level) as (
      select f.id, f.source, 0 from files f
      where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(actor)}
      union all
      select c.id, c.source, down.level + 1
      from down cross join lateral (
        select f.id, f.source from files f
        where f.org_id = ${actor.orgId} and f.container_id = down.id and f.deleted_at is null and ${mayRead(actor)}
        order by f.listing_rank, f.name_key, f.id offset 0
      ) c
      where down.source = 'folder'
    ), tree as (select id, level from down limit ${limit})
    select f.id, f.parent_id, f.source, f.revision, f.name, coalesce(t.mime_type, f.mime_type) as mime_type,
      coalesce(${sizeOf(sql`t`)}, ${sizeOf(sql`f`)}) as size, coalesce(t.blob_id, f.blob_id) as blob_id,
      encode(coalesce(t.sha256, f.sha256), 'hex') as content_hash,
      coalesce(t.is_untrusted, f.is_untrusted) as is_untrusted,
      coalesce(t.content_by, t.created_by, f.content_by, f.created_by) as content_by,
      coalesce(f.named_by, f.created_by) as named_by, f.guards, t.guards as target_guards, tree.level
    from tree cross join ${byId(actor.orgId, sql`tree.id`)} f
      left join ${byId(actor.orgId, sql`f.target_id`)} t on t.deleted_at is null and ${mayRead(actor, sql`t.guards`)}
    where f.source = 'folder' or coalesce(t.blob_id, f.blob_id) is not null
    order by tree.level`)

/** Locks live blobs, so that they are not deleted before the transaction ends. Returns those that are live. */
export const keepBlobs = (db: Transaction, orgId: string, ids: string[]) =>
  db.rows<{ id: string }>(sql`
    select id from blobs where org_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'live'
    order by id for key share`)

/** A copy as it is inserted. */
export interface NewCopy extends Omit<CopiedRow, 'id' | 'level' | 'source' | 'revision' | 'guards' | 'targetGuards'> {
  id: string
  originalId: string
  source: 'folder' | 'upload'
  nameKey: string
  namedBy: string
}

/** A copy without its tags. */
export type CopyRow = Omit<FileRow, 'tags'>

/**
 * Inserts copies, whose parents are among them or exist. The caller adds them to the counts. The database copies the tags: a
 * file has up to 13 KB of them, and 10,000 files would fill the memory of the process.
 */
export const insertCopies = (
  db: Transaction,
  actor: Actor,
  copies: readonly NewCopy[],
  { projectId, guards }: Pick<ResolvedPlace, 'projectId' | 'guards'>,
) =>
  db.rows<CopyRow>(sql`
    insert into files as f (org_id, id, source, name, name_key, parent_id, project_id, mime_type, size_bytes, large_bytes,
      blob_id, sha256, tags, is_untrusted, named_by, content_by, guards, created_by)
    select ${actor.orgId}::uuid, c.id, c.source, c.name, c."nameKey", c."parentId", ${projectId}::uuid, c."mimeType", ${smallOf(sql`c.size`)},
      ${largeOf(sql`c.size`)},
      c."blobId", decode(c."contentHash", 'hex'), o.tags, c."isUntrusted", c."namedBy", c."contentBy", ${guards}::uuid[],
      ${actor.userId}::uuid
    from jsonb_to_recordset(${JSON.stringify(copies)}::jsonb) as c (
      id uuid, "originalId" uuid, source text, name text, "nameKey" text, "parentId" uuid, "mimeType" text, size bigint, "blobId" uuid,
      "contentHash" text, "isUntrusted" boolean, "namedBy" uuid, "contentBy" uuid)
      cross join ${byId(actor.orgId, sql`c."originalId"`)} o
    returning ${untaggedColumns}`)

/** Sets how many children each of these new folders has, and adds the copies to the usage of the org. */
export const countCopies = (
  db: Transaction,
  orgId: string,
  children: ReadonlyMap<string, number>,
  { files, bytes }: { files: number; bytes: number },
) =>
  db.execute(sql`
    with counted as (
      insert into folder_counts (org_id, folder_id, slot, children)
      select ${orgId}::uuid, c.folder_id, pg_backend_pid() % 16, c.children
      from unnest(${[...children.keys()]}::uuid[], ${[...children.values()]}::int[]) as c (folder_id, children)
      returning 1
    )
    insert into org_file_usage (org_id, slot, files, stored_bytes)
    select ${orgId}::uuid, pg_backend_pid() % 64, ${files}::bigint, ${bytes}::bigint where (select count(*) from counted) >= 0
    on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
      stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes`)
