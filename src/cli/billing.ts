import { extname } from 'node:path'
import { writeFile } from 'node:fs/promises'
import type { PrintedDocument } from '../billing/documents/document.ts'
import { useSnapshot } from '../billing/ledger/queries.ts'
import { verifyLedgers, verifyOrg } from '../billing/ledger/verify.ts'
import { languages } from '../platform/text/languages.ts'
import type { Language } from '../platform/text/languages.ts'
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

const toLanguage = (text: string | undefined, words: string): Language => {
  const language = languages.find((one) => one === (text ?? 'en'))
  if (language === undefined) throw new UsageError(`--language must be one of ${languages.join(', ')}`, words)
  return language
}

/** Checks the name of the file before anything is read. Returns its format; undefined without a file. */
const formatOf = (output: string | undefined, words: string): 'pdf' | 'html' | undefined => {
  if (output === undefined) return undefined
  const format = (['pdf', 'html'] as const).find((one) => extname(output) === `.${one}`)
  if (format === undefined) throw new UsageError('--output must end with .pdf or .html', words)
  return format
}

const writeDocument = async (
  output: string | undefined,
  format: 'pdf' | 'html' | undefined,
  { orgId, document }: { orgId: string; document: PrintedDocument },
): Promise<void> => {
  if (output === undefined) return
  if (format === 'html') {
    const { htmlOf } = await import('../billing/documents/html.ts')
    await writeFile(output, htmlOf(document))
    return
  }
  const { createPdfPrinter } = await import('../billing/documents/pdf.ts')
  const printer = createPdfPrinter()
  await writeFile(output, await printer.print(document, { orgId }))
  await printer.close()
}

const writtenTo = (output: string | undefined): [string, string][] => (output === undefined ? [] : [['File', output]])

const statement = async ({ config, db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { month: wanted = '', output } = options
  const format = formatOf(output, 'statement')
  const language = toLanguage(options['language'], 'statement')
  const org = await getOrg(db, options['org'] ?? '')
  const { getMonth, getStatement } = await import('../billing/statements/statements.ts')
  const { printStatement } = await import('../billing/statements/print.ts')
  const { toStatement } = await import('../billing/statements/output.ts')
  const { getBuyer, completeReceipts } = await import('../billing/receipts/receipts.ts')
  const { planNames } = await import('../billing/plan-names.ts')
  const { createModelCatalog } = await import('../agents/agents.ts')
  const models = createModelCatalog(config.modelProviders)
  const names = {
    orgId: org.id,
    seller: config.billing.seller,
    buyer: await getBuyer(db, org.id),
    modelName: (id: string): string => models.find(id)?.name ?? id,
  }
  const now = new Date()
  const month = getMonth(wanted, now)
  await completeReceipts(db, org.id)
  const found = await db.transaction({ orgId: org.id }, async (db) => {
    await useSnapshot(db)
    return getStatement(db, org.id, month, now)
  })
  const document = printStatement(found, { ...names, language, planName: planNames(config.billing), now })
  await writeDocument(output, format, { orgId: org.id, document })
  return {
    json: { org: { id: org.id, name: org.name }, statement: toStatement(found, names) },
    lines: labelled([
      ['Org', `${org.name}  ${org.id}`],
      ['Month', found.isProvisional ? `${found.month}, provisional` : found.month],
      ['Opening balance', dollars(found.openingCents)],
      ['Deposits', dollars(found.depositCents)],
      ['Refunds', dollars(found.refundCents)],
      ['Adjustments', dollars(found.adjustmentCents)],
      ['Usage', dollars(found.usageCents)],
      ['Closing balance', dollars(found.closingCents)],
      ...writtenTo(output),
    ]),
  }
}

const receipt = async ({ config, db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { payment = '', output } = options
  const format = formatOf(output, 'receipt')
  const language = toLanguage(options['language'], 'receipt')
  const org = await getOrg(db, options['org'] ?? '')
  const { getReceipt } = await import('../billing/receipts/receipts.ts')
  const { printReceipt } = await import('../billing/receipts/print.ts')
  const { toReceipt } = await import('../billing/receipts/output.ts')
  const { planNames } = await import('../billing/plan-names.ts')
  const found = await getReceipt(db, org.id, payment)
  const { seller } = config.billing
  const document = printReceipt(found, { language, seller, planName: planNames(config.billing) })
  await writeDocument(output, format, { orgId: org.id, document })
  return {
    json: { org: { id: org.id, name: org.name }, receipt: toReceipt(found, config.billing) },
    lines: labelled([
      ['Org', `${org.name}  ${org.id}`],
      ['Receipt', found.label],
      ['Buyer', found.buyer.name],
      ['Paid', dollars(found.paid)],
      ['Credited', dollars(found.amountCents)],
      ['Date', found.createdAt],
      ...writtenTo(output),
    ]),
  }
}

const documentOptions = {
  output: { value: 'FILE', description: 'also write the document to a file that ends with .pdf or .html' },
  language: { value: 'L', description: 'the language of the file: en or de; default: en' },
} as const

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
    words: 'statement',
    summary: "Print the statement of a month of an org's balance",
    options: {
      org,
      month: { value: 'M', description: 'the calendar month in UTC, such as 2026-11', required: true },
      ...documentOptions,
    },
    details: 'Charges of the last seconds may be missing while servers are running.',
    needs: 'database',
    run: statement,
  },
  {
    words: 'receipt',
    summary: 'Print the receipt of a payment or deposit',
    options: {
      org,
      payment: {
        value: 'PI',
        description: 'the ID of the payment at Stripe, such as pi_3SWc…, or direct:… without one',
        required: true,
      },
      ...documentOptions,
    },
    needs: 'database',
    run: receipt,
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
