import { verifyLedgers, verifyOrg } from '../billing/ledger/verify.ts'
import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { toExpiry } from './expiry.ts'
import { notFound } from '../platform/http/errors.ts'
import { findOrg } from '../identity/members/org-queries.ts'
import type { OrgRow } from '../identity/members/org-queries.ts'
import type { Db } from '../platform/database/database.ts'
import { isUuid } from '../platform/ids.ts'

const mostCents = 1_000_000_000

const toCents = (given: string, words: string): number => {
  const cents = /^-?\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (!Number.isSafeInteger(cents) || cents === 0 || Math.abs(cents) > mostCents) {
    throw new UsageError(`--cents must be a whole number other than 0, up to ${mostCents} either way`, words)
  }
  return cents
}

const getOrg = async (db: Db, id: string): Promise<OrgRow> => {
  const org = isUuid(id) ? await findOrg(db, id) : undefined
  if (!org) throw notFound('Org')
  return org
}

const dollars = (cents: bigint | number): string => `${(Number(cents) / 100).toFixed(2)} USD`

const adjustBalance = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const cents = toCents(options['cents'] ?? '', 'adjust')
  const org = await getOrg(db, options['org'] ?? '')
  // The ledger knows of jobs, and jobs are much to load for every command that there is.
  const { adjust } = await import('../billing/ledger/ledger.ts')
  const { balanceCents } = await adjust(db, org.id, BigInt(cents), options['note'] ?? '')
  const adjustment = { orgId: org.id, amountCents: cents, notes: options['note'] ?? null }
  return {
    json: { org: { id: org.id, name: org.name }, adjustment, balance: { balanceCents: Number(balanceCents) } },
    lines: labelled([
      ['Org', `${org.name}  ${org.id}`],
      ['Adjusted by', dollars(cents)],
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
      ['Worth', `${dollars(promotion.amountCents)}, once for each org`],
      ['Expires', promotion.expiresAt ?? 'never'],
    ]),
  }
}

const ledgerVerify = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const wanted = options['org']
  const result =
    wanted === undefined
      ? await verifyLedgers(db)
      : { orgs: 1, discrepancies: await verifyOrg(db, (await getOrg(db, wanted)).id) }
  const { orgs, discrepancies } = result
  return {
    json: { orgs, faults: discrepancies },
    lines:
      discrepancies.length === 0
        ? [`The ledgers of ${orgs} orgs add up.`]
        : discrepancies.map(
            ({ orgId, check, expected, found }) => `✗ ${orgId}  ${check}: ${expected}, but ${found} was found`,
          ),
    ok: discrepancies.length === 0,
  }
}

const org = { value: 'ID', description: 'the org', required: true } as const

/** Administration of money. */
export const billingCommands: Command[] = [
  {
    words: 'adjust',
    summary: "Change an org's balance by hand",
    options: {
      org,
      cents: { value: 'N', description: 'by how much; -500 takes away', required: true },
      note: { value: 'T', description: 'why, as the org will read it', required: true },
    },
    details: 'It is a transaction of the type adjustment. Deposits, and what depends on them, stay as they are.',
    needs: 'database',
    run: adjustBalance,
  },
  {
    words: 'promo create',
    summary: 'Create a promotion that every org may redeem once',
    options: {
      code: { value: 'C', description: 'what people type', required: true },
      cents: { value: 'N', description: 'what it adds to the balance', required: true },
      description: { value: 'T', description: 'what it is for' },
      expires: { value: 'D', description: 'a date, an ISO time, or a time from now such as 90d; never when left out' },
    },
    needs: 'database',
    run: promoCreate,
  },
  {
    words: 'ledger verify',
    summary: 'Prove that the ledgers of all orgs add up, and say where one does not',
    options: { org: { value: 'ID', description: 'only this one' } },
    details: 'Reads every transaction and every record of usage, beside running servers. Exit code 1 when one is off.',
    needs: 'database',
    run: ledgerVerify,
  },
]
