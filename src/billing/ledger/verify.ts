import type { Database, Db } from '../../platform/database/database.ts'
import { freeze } from './queries.ts'
import { microcentsPerCent } from './money.ts'
import * as queries from './verify-queries.ts'

/** Two figures that should be one. */
export interface Fault {
  orgId: string
  check: string
  expected: string
  found: string
}

type Check = [check: string, expected: bigint, found: bigint]

const ledgerChecks = async (db: Db, orgId: string, account: queries.Sums): Promise<Check[]> => {
  const ledger = await queries.findLedgerSums(db, orgId)
  if (!ledger) return []
  const types = await queries.listTypeSums(db, orgId)
  return [
    ['the balance is the sum of the transactions', ledger.cents, account.balanceCents],
    ['cumulative deposits are the sum of the deposits', ledger.depositCents, account.cumulativeDepositsCents],
    ['transactions are numbered without gaps', ledger.count, ledger.lastNumber],
    ['the account counts its transactions', ledger.count, account.transactionCount],
    ['each transaction says the balance after it', 0n, ledger.broken],
    ['the account knows what moved into the ledger', ledger.movedCents, account.movedCents],
    ['the account knows how much of it is fee', ledger.movedFeeCents, account.movedFeeCents],
    ...types.flatMap(({ type, count, cents, countedTotal, countedCents }): Check[] => [
      [`the number of ${type} transactions`, count, countedTotal],
      [`the sum of ${type} transactions`, cents, countedCents],
    ]),
  ]
}

const usageChecks = async (db: Db, orgId: string, account: queries.Sums): Promise<Check[]> => {
  const records = await queries.findRecordSums(db, orgId)
  if (!records) return []
  const { calls, chargedMicrocents, feeMicrocents } = records
  const carried = account.movedCents * microcentsPerCent + account.remainderMicrocents
  const rollups = await queries.listRollupSums(db, orgId)
  // Without any call there is no rollup to compare.
  const missing = calls > 0n ? BigInt(10 - rollups.length) : 0n
  return [
    ['what was charged is the sum of the records', chargedMicrocents, account.chargedMicrocents],
    ['the fee is the sum of the fees of the records', feeMicrocents, account.feeMicrocents],
    ['what was charged is what moved and the remainder', account.chargedMicrocents, carried],
    ['there are rollups of every axis', 0n, missing],
    ...rollups.flatMap((rollup): Check[] => [
      [`the rollup ${rollup.axis} by ${rollup.grain} counts the calls`, calls, rollup.calls],
      [`the rollup ${rollup.axis} by ${rollup.grain} sums up the charges`, chargedMicrocents, rollup.chargedMicrocents],
      [`the rollup ${rollup.axis} by ${rollup.grain} sums up the fees`, feeMicrocents, rollup.feeMicrocents],
    ]),
  ]
}

const otherChecks = async (db: Db, orgId: string): Promise<Check[]> => {
  const found = await queries.findLeftovers(db, orgId)
  return [
    ['no turn that ended holds money', 0n, found?.strayHolds ?? 0n],
    ['no call waits that was charged already', 0n, found?.doubleCalls ?? 0n],
    ['no payment was refunded by more than it was', 0n, found?.overRefunds ?? 0n],
  ]
}

/**
 * Proves that an org's ledger adds up, from the single transactions and records, at one moment and beside running
 * servers. Answers what does not hold.
 */
export const verifyOrg = (db: Database, orgId: string): Promise<Fault[]> =>
  db.transaction({ orgId }, async (db) => {
    await freeze(db)
    await queries.takeTime(db)
    const account = await queries.findAccountSums(db, orgId)
    if (!account) return [{ orgId, check: 'the org has a billing account', expected: '1', found: '0' }]
    const checks = [
      ...(await ledgerChecks(db, orgId, account)),
      ...(await usageChecks(db, orgId, account)),
      ...(await otherChecks(db, orgId)),
    ]
    return checks.flatMap(([check, expected, found]) =>
      expected === found ? [] : [{ orgId, check, expected: `${expected}`, found: `${found}` }],
    )
  })

/** The same for every org, one after another. */
export const verifyLedgers = async (db: Database): Promise<{ orgs: number; faults: Fault[] }> => {
  const orgs = await queries.listOrgIds(db)
  const faults: Fault[] = []
  for (const { id } of orgs) faults.push(...(await verifyOrg(db, id)))
  return { orgs: orgs.length, faults }
}
