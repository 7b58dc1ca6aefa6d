import type { Database, Db } from '../../platform/database/database.ts'
import { useSnapshot } from './queries.ts'
import { microcentsPerCent } from './money.ts'
import * as queries from './verify-queries.ts'

/** Two figures that differ and should be equal. */
export interface Discrepancy {
  orgId: string
  check: string
  expected: string
  found: string
}

type Check = [check: string, expected: bigint, found: bigint]

const ledgerChecks = async (db: Db, orgId: string, account: queries.LedgerSums): Promise<Check[]> => {
  const ledger = await queries.findLedgerSums(db, orgId)
  if (!ledger) return []
  const types = await queries.listTypeSums(db, orgId)
  return [
    ['the balance is the sum of the transactions', ledger.cents, account.balanceCents],
    ['cumulative deposits are the sum of the deposits', ledger.depositCents, account.cumulativeDepositsCents],
    ['transactions are numbered without gaps', ledger.count, ledger.lastNumber],
    ['the account counts its transactions', ledger.count, account.transactionCount],
    ['each transaction has the balance after it', 0n, ledger.broken],
    ['the account has the sum of posted charges', ledger.movedCents, account.movedCents],
    ['the account has the sum of posted fees', ledger.movedFeeCents, account.movedFeeCents],
    ...types.flatMap(({ type, count, cents, countedTotal, countedCents }): Check[] => [
      [`the number of ${type} transactions`, count, countedTotal],
      [`the sum of ${type} transactions`, cents, countedCents],
    ]),
  ]
}

const usageChecks = async (db: Db, orgId: string, account: queries.LedgerSums): Promise<Check[]> => {
  const records = await queries.findRecordSums(db, orgId)
  if (!records) return []
  const { calls, chargedMicrocents, feeMicrocents } = records
  const carried = account.movedCents * microcentsPerCent + account.remainderMicrocents
  const rollups = await queries.listRollupSums(db, orgId)
  // An org without calls has no rollups.
  const missing = calls > 0n ? BigInt(10 - rollups.length) : 0n
  return [
    ['the charges are the sum of the records', chargedMicrocents, account.chargedMicrocents],
    ['the fees are the sum of the fees of the records', feeMicrocents, account.feeMicrocents],
    ['the charges are the posted cents and the remainder', account.chargedMicrocents, carried],
    ['every axis has rollups', 0n, missing],
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
    ['no ended turn has a reservation', 0n, found?.strayReservations ?? 0n],
    ['no pending call was posted before', 0n, found?.doubleCalls ?? 0n],
    ['no payment was refunded by more than its amount', 0n, found?.overRefunds ?? 0n],
  ]
}

/** Recomputes an org's ledger from its transactions and records, in one snapshot; servers may run. Empty when it adds up. */
export const verifyOrg = (db: Database, orgId: string): Promise<Discrepancy[]> =>
  db.transaction({ orgId }, async (db) => {
    await useSnapshot(db)
    await queries.removeStatementTimeout(db)
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

/** Verifies every org, one after another. */
export const verifyLedgers = async (db: Database): Promise<{ orgs: number; discrepancies: Discrepancy[] }> => {
  const orgs = await queries.listOrgIds(db)
  const discrepancies: Discrepancy[] = []
  for (const { id } of orgs) discrepancies.push(...(await verifyOrg(db, id)))
  return { orgs: orgs.length, discrepancies }
}
