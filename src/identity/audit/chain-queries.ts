import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { auditColumns } from './queries.ts'
import type { AuditFields } from './queries.ts'

/** All fields of an entry, as text when JavaScript would round them. */
export interface ChainEntry extends AuditFields {
  /** UTC with microseconds. */
  atExactly: string
  /** The text form of jsonb, which is the same for equal values. */
  detailsText: string
}

export interface SealedEntry extends ChainEntry {
  seq: bigint
  hash: Buffer
}

const fields = sql`${auditColumns},
  to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at_exactly, details::text as details_text`

/**
 * The orgs of the next `rows` unsealed entries of orgs with ids above `after`, in order. At least one org, unless there is
 * none left: an org with many entries costs one page, not one row for each. The order is that of the index on unsealed
 * entries, because the planner would also read the primary key in the order of orgs, and with it all sealed entries.
 */
export const listUnsealedOrgs = (db: Db, after: string, rows: number) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: the sealer works for every org
    select distinct org_id from (
      select org_id from audit_log where seq is null and org_id > ${after}
      order by org_id, at, id limit ${rows}
    ) page order by org_id`)

export const insertHead = (db: Db, orgId: string) =>
  db.execute(sql`insert into audit_heads (org_id) values (${orgId}) on conflict do nothing`)

/** Locks the head of the chain. Undefined while another worker has the lock. */
export const lockHead = (db: Db, orgId: string) =>
  db.row<{ seq: bigint; hash: Buffer }>(sql`
    select seq, hash from audit_heads where org_id = ${orgId} for update skip locked`)

export const listUnsealed = (db: Db, orgId: string, limit: number) =>
  db.rows<ChainEntry>(sql`
    select ${fields} from audit_log
    where org_id = ${orgId} and seq is null
    order by at, id
    limit ${limit}`)

export interface Seal {
  id: string
  /** The time of the entry with microseconds, which determines its partition. */
  at: string
  seq: bigint
  hash: Buffer
}

export const sealEntries = (db: Db, orgId: string, seals: readonly Seal[]) =>
  db.execute(sql`
    update audit_log a set seq = sealed.seq, hash = sealed.hash
    from unnest(
      ${seals.map(({ id }) => id)}::uuid[], ${seals.map(({ seq }) => seq.toString())}::bigint[],
      ${seals.map(({ hash }) => hash)}::bytea[], ${seals.map(({ at }) => at)}::timestamptz[]) as sealed (id, seq, hash, at)
    where a.org_id = ${orgId} and a.id = sealed.id and a.at = sealed.at and a.seq is null`)

export const moveHead = (db: Db, orgId: string, seq: bigint, hash: Buffer) =>
  db.execute(sql`update audit_heads set seq = ${seq.toString()}, hash = ${hash} where org_id = ${orgId}`)

export interface ChainEnds {
  seq: bigint
  hash: Buffer
  anchorSeq: bigint
  anchorHash: Buffer
  /** The highest `seq` of an entry; null when no entry is sealed. */
  lastSeq: bigint | null
  unsealed: number
}

/** The anchor and the head of a chain, the highest `seq` and the number of unsealed entries, in one snapshot. */
export const findEnds = (db: Db, orgId: string) =>
  db.row<ChainEnds | { seq: null; lastSeq: bigint | null; unsealed: number }>(sql`
    select h.seq, h.hash, h.anchor_seq, h.anchor_hash,
      (select a.seq from audit_log a where a.org_id = ${orgId} and a.seq is not null order by a.seq desc limit 1) as last_seq,
      (select count(*)::int from audit_log a where a.org_id = ${orgId} and a.seq is null) as unsealed
    from (values (1)) as one left join audit_heads h on h.org_id = ${orgId}`)

/** Sealed entries with `seq` above `after`, up to `upTo`, in the order of the chain. */
export const listSealed = (
  db: Db,
  orgId: string,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
) =>
  db.rows<SealedEntry>(sql`
    select seq, hash, ${fields} from audit_log
    where org_id = ${orgId} and seq > ${after.toString()} and seq <= ${upTo.toString()}
    order by seq
    limit ${limit}`)

/** Whether an entry of any org before a time is not sealed. */
export const hasUnsealedBefore = async (db: Db, at: string): Promise<boolean> =>
  (await db.row(sql`
    -- all orgs: retention applies to the whole server
    select 1 as found from audit_log where seq is null and at < ${at} limit 1`)) !== undefined

/** Moves the anchor of a chain to its last entry before a time. */
export const moveAnchor = (db: Db, orgId: string, at: string) =>
  db.execute(sql`
    update audit_heads h set anchor_seq = last.seq, anchor_hash = last.hash
    from (
      select seq, hash from audit_log where org_id = ${orgId} and at < ${at} and seq is not null order by seq desc limit 1
    ) as last
    where h.org_id = ${orgId} and h.anchor_seq < last.seq`)

export const listOrgIds = (db: Db, after: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: the operator verifies every chain
    select id from orgs where id > ${after} order by id limit ${limit}`)
