import { createHash } from 'node:crypto'
import type { Database, Db } from '../../platform/database/database.ts'
import * as queries from './chain-queries.ts'
import type { ChainEnds, ChainEntry } from './chain-queries.ts'

/** The version of the hashed form. Increase it when the fields change, so that old entries can still be verified. */
const formVersion = 1

/**
 * The hash of an entry: SHA-256 over a JSON array of the form version, the org, `seq`, the previous hash in hexadecimal
 * and all fields in a fixed order. It can be computed from an export of the log without Atrium.
 */
export const hashOfEntry = (orgId: string, seq: bigint, before: Buffer, entry: ChainEntry): Buffer => {
  const { id, atExactly, userId, apiKeyId, actorName, action } = entry
  const { resourceType, resourceId, detailsText, ip, requestId } = entry
  const place = [formVersion, orgId, seq.toString(), before.toString('hex')]
  const actor = [id, atExactly, userId, apiKeyId, actorName, action]
  const form = JSON.stringify([...place, ...actor, resourceType, resourceId, detailsText, ip, requestId])
  return createHash('sha256').update(form).digest()
}

/**
 * Seals the oldest unsealed entries of an org, all or none, and returns their number. Only the head of the chain is
 * locked, so transactions that write entries never wait for it.
 */
export const sealOrg = async (db: Database, orgId: string, limit: number): Promise<number> =>
  db.transaction({ orgId }, async (db) => {
    await queries.insertHead(db, orgId)
    const head = await queries.lockHead(db, orgId)
    if (!head) return 0
    let { seq, hash } = head
    const entries = await queries.listUnsealed(db, orgId, limit)
    if (entries.length === 0) return 0
    const sealed = entries.map((entry) => {
      seq += 1n
      hash = hashOfEntry(orgId, seq, hash, entry)
      return { id: entry.id, at: entry.atExactly, seq, hash }
    })
    await queries.sealEntries(db, orgId, sealed)
    await queries.moveHead(db, orgId, seq, hash)
    return entries.length
  })

/** A head that the operator stored outside of the database. */
export interface KnownHead {
  seq: bigint
  /** Hexadecimal. */
  hash: string
}

export interface Break {
  seq: number
  /** Null when there is no such entry. */
  entryId: string | null
  reason: string
}

export interface ChainReport {
  orgId: string
  /** Number of verified entries. */
  entries: number
  seq: number
  hash: string
  /** Number of entries that are not in the chain yet, because they are seconds old or no worker has run since. */
  unsealed: number
  /** The first entry that does not match. Null when the chain is intact. */
  broken: Break | null
}

const noHash = '0'.repeat(64)

const missing = (seq: bigint): Break => ({
  seq: Number(seq),
  entryId: null,
  reason: 'The entry is missing: it was deleted or moved.',
})

const comparedWith = (known: KnownHead | undefined, seq: bigint, hash: Buffer): Break | undefined =>
  known?.seq !== seq || known.hash === hash.toString('hex')
    ? undefined
    : {
        seq: Number(seq),
        entryId: null,
        reason: 'The hash of this entry differs from the given head: the chain was rewritten.',
      }

/** Recomputes the chain from its anchor; returns the first break and the number of entries before it. */
const walk = async (
  db: Db,
  orgId: string,
  ends: ChainEnds,
  { known, pageSize }: VerifyOptions,
): Promise<{ entries: number; broken: Break | null }> => {
  let { anchorSeq: seq, anchorHash: hash } = ends
  let entries = 0
  const stop = (broken: Break | null) => ({ entries, broken })
  const rewrittenAnchor = comparedWith(known, seq, hash)
  if (rewrittenAnchor) return stop(rewrittenAnchor)
  while (seq < ends.seq) {
    const page = await queries.listSealed(db, orgId, { after: seq, upTo: ends.seq, limit: pageSize })
    if (page.length === 0) return stop(missing(seq + 1n))
    for (const entry of page) {
      seq += 1n
      if (entry.seq !== seq) return stop(missing(seq))
      hash = hashOfEntry(orgId, seq, hash, entry)
      if (!hash.equals(entry.hash)) {
        const reason =
          'The entry does not match its hash: it was changed, inserted or moved, or the entry before it was.'
        return stop({ seq: Number(seq), entryId: entry.id, reason })
      }
      const rewritten = comparedWith(known, seq, hash)
      if (rewritten) return stop({ ...rewritten, entryId: entry.id })
      entries += 1
    }
  }
  if (hash.equals(ends.hash)) return stop(null)
  return stop({ seq: Number(seq), entryId: null, reason: 'The last entry does not match the head of the chain.' })
}

interface VerifyOptions {
  known: KnownHead | undefined
  pageSize: number
}

/** Verifies the chain of an org, page by page, so that memory use does not depend on its length. */
export const verifyChain = async (db: Db, orgId: string, known?: KnownHead, pageSize = 2_000): Promise<ChainReport> => {
  const ends = await queries.findEnds(db, orgId)
  const { unsealed = 0, lastSeq = null } = ends ?? {}
  if (!ends || ends.seq === null) {
    const broken =
      lastSeq !== null || (known && known.seq > 0n)
        ? { seq: 1, entryId: null, reason: 'The head of the chain is missing.' }
        : null
    return { orgId, entries: 0, seq: 0, hash: noHash, unsealed, broken }
  }
  const { entries, broken } = await walk(db, orgId, ends, { known, pageSize })
  const report = { orgId, entries, seq: Number(ends.seq), hash: ends.hash.toString('hex'), unsealed }
  if (broken) return { ...report, broken }
  if (lastSeq !== null && lastSeq > ends.seq) {
    const reason = 'The entry is beyond the head of the chain: it was inserted, or the head was moved back.'
    return { ...report, broken: { seq: Number(ends.seq) + 1, entryId: null, reason } }
  }
  if (known && known.seq > ends.seq) {
    return {
      ...report,
      broken: { ...missing(ends.seq + 1n), reason: 'The chain ends before the given head.' },
    }
  }
  if (known && known.seq < ends.anchorSeq) {
    const reason = 'The given head is in the part of the chain that was removed because of its age.'
    return { ...report, broken: { seq: Number(known.seq), entryId: null, reason } }
  }
  return { ...report, broken: null }
}

const orgsAtOnce = 500
const firstId = '00000000-0000-0000-0000-000000000000'

const listAllOrgs = async function* (db: Db): AsyncGenerator<string> {
  for (let after = firstId; ;) {
    const orgs = await queries.listOrgIds(db, after, orgsAtOnce)
    for (const { id } of orgs) yield id
    const last = orgs.at(-1)
    if (!last || orgs.length < orgsAtOnce) return
    after = last.id
  }
}

/** Verifies the chains of all orgs, one after another. */
export const verifyChains = async function* (db: Db): AsyncGenerator<ChainReport> {
  for await (const orgId of listAllOrgs(db)) yield await verifyChain(db, orgId)
}

/**
 * Lets every chain begin after its last entry before a time, so that the entries up to it can be removed. Throws while
 * one of them is not sealed. Entries at the boundary that were sealed before it and made after it stay, unverified.
 */
export const moveAnchors = async (db: Db, at: string): Promise<void> => {
  if (await queries.hasUnsealedBefore(db, at))
    throw new Error(`entries of the audit log before ${at} are not sealed yet`)
  for await (const orgId of listAllOrgs(db)) await queries.moveAnchor(db, orgId, at)
}
