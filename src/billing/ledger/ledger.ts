import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { watchCap } from './caps.ts'
import * as queries from './queries.ts'
import type { AccountRow, NewTransaction, TransactionType } from './queries.ts'
import { microcentsPerCent } from './money.ts'
import { watchBalance } from '../payments/topup-watch.ts'
import * as usageQueries from './usage-queries.ts'

export type { AccountRow } from './queries.ts'

/** The account, locked until the transaction ends. Every org has one. */
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
  /** What it stands for: nothing of the same reference is booked twice. */
  reference?: string | null
}

/** Appends to the ledger of a locked account and answers the account as it then is. */
export const book = async (db: Transaction, account: AccountRow, entries: Entry[]): Promise<AccountRow> => {
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
  return {
    ...account,
    balanceCents: account.balanceCents + sum(entries),
    cumulativeDepositsCents: account.cumulativeDepositsCents + sum(deposits),
    transactionCount: account.transactionCount + BigInt(entries.length),
  }
}

/** Books an entry unless its reference is in the ledger already. Undefined then. */
export const bookOnce = async (
  db: Transaction,
  account: AccountRow,
  entry: Entry & { reference: string },
): Promise<AccountRow | undefined> =>
  (await queries.hasReference(db, account.orgId, entry.reference)) ? undefined : book(db, account, [entry])

export type Charged = Pick<AccountRow, 'chargedMicrocents' | 'feeMicrocents' | 'movedCents' | 'movedFeeCents'>

/**
 * The whole cents that move into the ledger when this much more was charged, and how many of them are fee. What is
 * carried on is less than a cent, the fee's part included: charged = 10,000 × moved + remainder, always.
 */
export const centsToMove = (
  before: Charged,
  added: { chargedMicrocents: bigint; feeMicrocents: bigint },
): { usageCents: bigint; feeCents: bigint } => {
  const cents = (before.chargedMicrocents + added.chargedMicrocents) / microcentsPerCent - before.movedCents
  const wholeFee = (before.feeMicrocents + added.feeMicrocents) / microcentsPerCent - before.movedFeeCents
  const feeCents = wholeFee < cents ? wholeFee : cents
  return { usageCents: cents - feeCents, feeCents }
}

const callsAtOnce = 10_000

const noteOf = (calls: number): string => (calls === 1 ? '1 call of a model' : `${calls} calls of models`)

/** Folds what waits of a locked account into its records, rollups and ledger. Answers how many calls that were. */
export const foldCharges = async (
  db: Transaction,
  account: AccountRow,
): Promise<{ account: AccountRow; calls: number }> => {
  const added = await usageQueries.absorbInbox(db, account.orgId, callsAtOnce)
  const { calls, chargedMicrocents, feeMicrocents } = added
  if (chargedMicrocents === 0n) return { account, calls }
  const { usageCents, feeCents } = centsToMove(account, added)
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
  const booked = await book(db, charged, entries)
  if (movedCents > 0n && account.promotionRemainingCents > 0n) {
    await queries.consumePromotions(db, account.orgId, movedCents)
  }
  return { account: booked, calls }
}

export interface LedgerDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
}

/**
 * Folds an org's charges until nothing waits that was there when this began: what is read afterwards is the whole
 * truth. Cheap when nothing waits.
 */
export const settle = async ({ db, jobs }: LedgerDeps, orgId: string): Promise<void> => {
  if (!(await usageQueries.hasWaiting(db, orgId))) return
  for (;;) {
    const calls = await db.transaction({ orgId }, async (db) => {
      const before = await lockAccount(db, orgId)
      const { account, calls } = await foldCharges(db, before)
      await watchCap(db, account)
      await watchBalance(db, jobs, account)
      return calls
    })
    if (calls < callsAtOnce) return
  }
}

/** From the terminal: books what no payment and no usage stands for. Answers the account afterwards. */
export const adjust = (db: Database, orgId: string, amountCents: bigint, notes: string): Promise<AccountRow> =>
  db.transaction({ orgId }, async (db) => {
    const account = await lockAccount(db, orgId)
    const details = { amountCents: Number(amountCents), notes }
    await audit(db, systemActor(orgId, 'atrium command'), 'billing.adjusted', { type: 'billing', id: null }, details)
    return book(db, account, [{ type: 'adjustment', amountCents, notes }])
  })
