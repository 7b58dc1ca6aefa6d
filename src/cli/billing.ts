import { verifyLedgers, verifyOrg } from '../billing/ledger/verify.ts'
import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { toExpiry } from './expiry.ts'
import { getOrg } from './org.ts'

const maxCents = 1_000_000_000

const toCents = (text: string, words: string): number => {
  const cents = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(cents) || cents === 0 || Math.abs(cents) > maxCents) {
    throw new UsageError(`--cents must be a whole number from -${maxCents} to ${maxCents} other than 0`, words)
  }
  return cents
}

const dollars = (cents: bigint | number): string => `${(Number(cents) / 100).toFixed(2)} USD`

const adjustBalance = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const cents = toCents(options['cents'] ?? '', 'adjust')
  const org = await getOrg(db, options['org'] ?? '')
  // The ledger imports the job library, which other commands do not need to load.
  const { adjust } = await import('../billing/ledger/ledger.ts')
  const { balanceCents } = await adjust(db, org.id, BigInt(cents), options['note'] ?? '')
  const adjustment = { orgId: org.id, amountCents: cents, notes: options['note'] ?? null }
  return {
    json: { org: { id: org.id, name: org.name }, adjustment, balance: { balanceCents: Number(balanceCents) } },
    lines: labelled([
      ['Org', `${org.name}  ${org.id}`],
      ['Adjustment', dollars(cents)],
      ['Balance', dollars(balanceCents)],
    ]),
  }
}

const promoCreate = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { createPromotion } = await import('../billing/promotions.ts')
  const promotion = await createPromotion(db, {
    code: options['code'] ?? '',
    amountCents: toCents(options['cents'] ?? '', 'promo create'),
    description: options['description'] ?? null,
    expiresAt: toExpiry(options['expires'], 'promo create'),
  })
  return {
    json: { promotion: { ...promotion, amountCents: Number(promotion.amountCents) } },
    lines: labelled([
      ['Code', promotion.code],
      ['Amount', `${dollars(promotion.amountCents)}, once for each org`],
      ['Expires', promotion.expiresAt ?? 'never'],
    ]),
  }
}

const ledgerVerify = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const orgId = options['org']
  const result =
    orgId === undefined
      ? await verifyLedgers(db)
      : { orgs: 1, discrepancies: await verifyOrg(db, (await getOrg(db, orgId)).id) }
  const { orgs, discrepancies } = result
  return {
    json: { orgs, faults: discrepancies },
    lines:
      discrepancies.length === 0
        ? [orgs === 1 ? 'The ledger of 1 org is consistent.' : `The ledgers of ${orgs} orgs are consistent.`]
        : discrepancies.map(
            ({ orgId, check, expected, found }) => `✗ ${orgId}  ${check}: expected ${expected}, found ${found}`,
          ),
    ok: discrepancies.length === 0,
  }
}

const org = { value: 'ID', description: 'the org', required: true } as const

/** Commands for balances, promotions and ledgers. */
export const billingCommands: Command[] = [
  {
    words: 'adjust',
    summary: "Adjust an org's balance",
    options: {
      org,
      cents: { value: 'N', description: 'the amount to add; a negative number such as -500 subtracts', required: true },
      note: { value: 'T', description: 'the reason, which the org can read', required: true },
    },
    details: 'Creates a transaction of the type adjustment. Deposits and the platform fee waiver do not change.',
    needs: 'database',
    run: adjustBalance,
  },
  {
    words: 'promo create',
    summary: 'Create a promotion that every org can redeem once',
    options: {
      code: { value: 'C', description: 'the code to redeem', required: true },
      cents: { value: 'N', description: 'the amount to add to the balance', required: true },
      description: { value: 'T', description: 'a description' },
      expires: { value: 'D', description: 'a date, an ISO 8601 time, or a duration such as 90d; default: never' },
    },
    needs: 'database',
    run: promoCreate,
  },
  {
    words: 'ledger verify',
    summary: 'Verify that the ledgers of all orgs are consistent',
    options: { org: { value: 'ID', description: 'the org; default: all orgs' } },
    details:
      'Reads every transaction and usage record. Servers can keep running. Exit code 1 when a ledger is inconsistent.',
    needs: 'database',
    run: ledgerVerify,
  },
]
