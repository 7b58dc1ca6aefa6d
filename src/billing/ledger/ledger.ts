import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { outsideChains } from '../../outbox/chain.ts'
import type { EventAuthor } from '../../outbox/record.ts'
import { billingAuthor, recordBalance } from './balance-events.ts'
import { watchCap } from './caps.ts'
import * as queries from './queries.ts'
import type { AccountRow, NewTransaction, TransactionType } from './queries.ts'
import { microcentsPerCent } from './money.ts'
import { topUpIfLow } from '../payments/topup-trigger.ts'
import * as usageQueries from './usage-queries.ts'

export type { AccountRow } from './queries.ts'

/** The account of the org, locked until the transaction ends. Every org has one. */
export const lockAccount = async (db: Transaction, orgId: string): Promise<AccountRow> => {
  const account = await queries.lockAccount(db, orgId)
  if (!account) throw new Error(`the org ${orgId} has no billing account`)
  return account
}

export const getAccount = async (db: Db, orgId: string): Promise<AccountRow> => {
  const account = await queries.findAccount(db, orgId)
  if (!account) throw new Error(`the org ${orgId} has no billing account`)
  return account
}

export interface Entry {
  type: TransactionType
  amountCents: bigint
  paymentIntentId?: string | null
  notes?: string | null
  /** The event that it stands for: `postEntryOnce` posts one entry per reference. */
  reference?: string | null
}

/**
 * Appends entries to the ledger of a locked account, with the events of the balance, and returns the account after them.
 * `author` is the author of the events; by default the server.
 */
export const postEntries = async (
  db: Transaction,
  account: AccountRow,
  entries: Entry[],
  author: EventAuthor = billingAuthor(account.orgId),
): Promise<AccountRow> => {
  if (entries.length === 0) return account
  const rows = entries.map(
    ({ type, amountCents, paymentIntentId = null, notes = null, reference = null }): NewTransaction => ({
      id: newId(),
      type,
      amountCents,
      paymentIntentId,
      notes,
      reference,
    }),
  )
  await queries.insertTransactions(db, account, rows)
  const sum = (some: Entry[]): bigint => some.reduce((total, { amountCents }) => total + amountCents, 0n)
  const deposits = entries.filter(({ type }) => type === 'deposit')
  const posted = {
    ...account,
    balanceCents: account.balanceCents + sum(entries),
    cumulativeDepositsCents: account.cumulativeDepositsCents + sum(deposits),
    transactionCount: account.transactionCount + BigInt(entries.length),
  }
  await recordBalance(db, author, { before: account, after: posted }, rows)
  return posted
}

/** Posts an entry unless the ledger has one with its reference. Returns undefined then. */
export const postEntryOnce = async (
  db: Transaction,
  account: AccountRow,
  entry: Entry & { reference: string },
): Promise<AccountRow | undefined> =>
  (await queries.hasReference(db, account.orgId, entry.reference)) ? undefined : postEntries(db, account, [entry])

export type ChargeTotals = Pick<AccountRow, 'chargedMicrocents' | 'feeMicrocents' | 'movedCents' | 'movedFeeCents'>

/**
 * The whole cents to post after `added` was charged, and how many of them are fee. The remainder that is carried over is
 * less than a cent, the part of the fee included. The invariant: charged = 10,000 × posted + remainder.
 */
export const centsToPost = (
  before: ChargeTotals,
  added: { chargedMicrocents: bigint; feeMicrocents: bigint },
): { usageCents: bigint; feeCents: bigint } => {
  const cents = (before.chargedMicrocents + added.chargedMicrocents) / microcentsPerCent - before.movedCents
  const wholeFee = (before.feeMicrocents + added.feeMicrocents) / microcentsPerCent - before.movedFeeCents
  const feeCents = wholeFee < cents ? wholeFee : cents
  return { usageCents: cents - feeCents, feeCents }
}

const callsAtOnce = 10_000

const noteOf = (calls: number): string => (calls === 1 ? '1 model call' : `${calls} model calls`)

type Batch = { account: AccountRow } & Pick<usageQueries.PostedCharges, 'calls' | 'at'>

/** Posts up to `callsAtOnce` pending charges of a locked account, those made until `until`. */
const postBatch = async (db: Transaction, account: AccountRow, until: string | undefined): Promise<Batch> => {
  const added = await usageQueries.postInbox(db, account.orgId, { limit: callsAtOnce, until })
  const { calls, at, chargedMicrocents, feeMicrocents } = added
  if (chargedMicrocents === 0n) return { account, calls, at }
  const { usageCents, feeCents } = centsToPost(account, added)
  const movedCents = usageCents + feeCents
  await queries.addCharges(db, account.orgId, { chargedMicrocents, feeMicrocents, movedCents, movedFeeCents: feeCents })
  const charged: AccountRow = {
    ...account,
    chargedMicrocents: account.chargedMicrocents + chargedMicrocents,
    feeMicrocents: account.feeMicrocents + feeMicrocents,
    movedCents: account.movedCents + movedCents,
    movedFeeCents: account.movedFeeCents + feeCents,
  }
  const entries: Entry[] = []
  if (usageCents > 0n) entries.push({ type: 'usage', amountCents: -usageCents, notes: noteOf(calls) })
  if (feeCents > 0n) entries.push({ type: 'platform_fee', amountCents: -feeCents })
  const posted = await postEntries(db, charged, entries)
  if (movedCents > 0n && account.promotionRemainingCents > 0n) {
    await queries.consumePromotions(db, account.orgId, movedCents)
  }
  return { account: posted, calls, at }
}

export interface LedgerDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
}

/**
 * Posts the charges of an org that were committed before the call: they are moved from the inbox into the usage records
 * and rollups, and their whole cents become ledger entries. For a caller that knows that some are pending. They can be
 * of many turns, so an event of the balance continues the chain of none of them.
 *
 * Charges that arrive meanwhile are left to the next call, or the call would not end for an org that makes them faster
 * than they are posted. After `maxRounds` batches the rest is left, too.
 */
export const postPending = ({ db, jobs }: LedgerDeps, orgId: string, maxRounds = Infinity): Promise<void> =>
  outsideChains(async () => {
    let until: string | undefined
    for (let round = 1; round <= maxRounds; round += 1) {
      const { calls, at } = await db.transaction({ orgId }, async (db) => {
        const batch = await postBatch(db, await lockAccount(db, orgId), until)
        await watchCap(db, batch.account)
        await topUpIfLow(db, jobs, batch.account)
        return batch
      })
      if (calls < callsAtOnce) return
      until ??= at
    }
  })

/** As `postPending`, with one short query when none is pending. */
export const postCharges = async (deps: LedgerDeps, orgId: string, maxRounds?: number): Promise<void> => {
  if (await usageQueries.hasPendingCharges(deps.db, orgId)) await postPending(deps, orgId, maxRounds)
}

/** Runs `read` in one snapshot that includes all charges that were committed before the call. */
export const readPosted = async <T>(deps: LedgerDeps, orgId: string, read: (db: Db) => Promise<T>): Promise<T> => {
  await postCharges(deps, orgId)
  return deps.db.transaction({ orgId }, async (db) => {
    await queries.useSnapshot(db)
    return read(db)
  })
}

/** `atrium adjust`: posts an adjustment by the operator and returns the account after it. */
export const adjust = (db: Database, orgId: string, amountCents: bigint, notes: string): Promise<AccountRow> =>
  db.transaction({ orgId }, async (db) => {
    const account = await lockAccount(db, orgId)
    const details = { amountCents: Number(amountCents), notes }
    const author = systemActor(orgId, 'atrium command')
    await audit(db, author, 'billing.adjusted', { type: 'billing', id: null, details })
    return postEntries(db, account, [{ type: 'adjustment', amountCents, notes }], author)
  })
