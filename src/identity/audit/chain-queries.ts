import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** All fields of an entry, as text where JavaScript would round them. */
export interface ChainEntry {
  id: string
  /** UTC with microseconds. */
  atExactly: string
  userId: string | null
  apiKeyId: string | null
  actorName: string
  action: string
  resourceType: string
  resourceId: string | null
  /** As PostgreSQL writes jsonb: the same for the same value. */
  detailsText: string
  ip: string | null
  requestId: string | null
}

export interface SealedEntry extends ChainEntry {
  seq: bigint
  hash: Buffer
}

const fields = sql`
  id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at_exactly, user_id, api_key_id, actor_name,
  action, resource_type, resource_id, details::text as details_text, ip, request_id`

/** One step down the index for each org, however many entries an org has. */
export const listUnsealedOrgs = (db: Db, limit: number) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: one sealer works for every org
    with recursive found as (
      (select org_id from audit_log where seq is null order by org_id limit 1)
      union all
      select (select a.org_id from audit_log a where a.seq is null and a.org_id > found.org_id order by a.org_id limit 1)
      from found where found.org_id is not null
    )
    select org_id from found where org_id is not null limit ${limit}`)

export const insertHead = (db: Db, orgId: string) =>
  db.execute(sql`insert into audit_heads (org_id) values (${orgId}) on conflict do nothing`)

/** Locks the end of the chain. Undefined while another worker has it. */
export const lockHead = (db: Db, orgId: string) =>
  db.row<{ seq: bigint; hash: Buffer }>(sql`
    select seq, hash from audit_heads where org_id = ${orgId} for update skip locked`)

export const listUnsealed = (db: Db, orgId: string, limit: number) =>
  db.rows<ChainEntry>(sql`
    select ${fields} from audit_log
    where org_id = ${orgId} and seq is null
    order by at, id
    limit ${limit}`)

export const sealEntries = (db: Db, orgId: string, ids: string[], seqs: string[], hashes: Buffer[]) =>
  db.execute(sql`
    update audit_log a set seq = sealed.seq, hash = sealed.hash
    from unnest(${ids}::uuid[], ${seqs}::bigint[], ${hashes}::bytea[]) as sealed (id, seq, hash)
    where a.org_id = ${orgId} and a.id = sealed.id and a.seq is null`)

export const moveHead = (db: Db, orgId: string, seq: bigint, hash: Buffer) =>
  db.execute(sql`update audit_heads set seq = ${seq.toString()}, hash = ${hash} where org_id = ${orgId}`)

export interface ChainEnds {
  seq: bigint
  hash: Buffer
  anchorSeq: bigint
  anchorHash: Buffer
  /** The last place that an entry has; null when none has one. */
  lastSeq: bigint | null
  unsealed: number
}

/** The ends of a chain and what the log has beyond them, as of one moment. Nulls for a chain without a head. */
export const findEnds = (db: Db, orgId: string) =>
  db.row<ChainEnds | { seq: null; lastSeq: bigint | null; unsealed: number }>(sql`
    select h.seq, h.hash, h.anchor_seq, h.anchor_hash,
      (select a.seq from audit_log a where a.org_id = ${orgId} and a.seq is not null order by a.seq desc limit 1) as last_seq,
      (select count(*)::int from audit_log a where a.org_id = ${orgId} and a.seq is null) as unsealed
    from (values (1)) as one left join audit_heads h on h.org_id = ${orgId}`)

/** Sealed entries after a place, up to another one, in the order of the chain. */
export const listSealed = (db: Db, orgId: string, after: bigint, upTo: bigint, limit: number) =>
  db.rows<SealedEntry>(sql`
    select seq, hash, ${fields} from audit_log
    where org_id = ${orgId} and seq > ${after.toString()} and seq <= ${upTo.toString()}
    order by seq
    limit ${limit}`)

export const listOrgIds = (db: Db, after: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: whoever runs the command owns the installation
    select id from orgs where id > ${after} order by id limit ${limit}`)
