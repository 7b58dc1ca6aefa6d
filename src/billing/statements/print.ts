import type { Seller } from '../../config/billing.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PrintedColumn, PrintedDocument, PrintedRow, PrintedTable } from '../documents/document.ts'
import { formatsOf, printable } from '../documents/format.ts'
import type { Formats } from '../documents/format.ts'
import { partiesOf } from '../documents/parties.ts'
import { noteOf, textsOf } from '../documents/texts.ts'
import type { Texts } from '../documents/texts.ts'
import type { BillingDetails } from '../receipts/queries.ts'
import { receiptLabel } from '../receipts/receipts.ts'
import type { Statement } from './statements.ts'

export interface StatementContext {
  orgId: string
  language: Language
  seller: Seller | null
  buyer: BillingDetails
  /** The name of a model or plan; its id when there is none any more. */
  modelName: (id: string) => string
  planName: (id: string) => string
  now: Date
}

interface Printing {
  texts: Texts
  formats: Formats
  context: StatementContext
}

const start = (title: string, width = 4): PrintedColumn => ({ title, align: 'start', width })
const end = (title: string, width = 1): PrintedColumn => ({ title, align: 'end', width })

const balanceTable = (statement: Statement, { texts, formats: { cents } }: Printing): PrintedTable => {
  const words = texts.statement
  const { openingCents, depositCents, refundCents, adjustmentCents, usageCents, closingCents } = statement
  return {
    title: words.balance,
    columns: [start(texts.description), end(texts.amount)],
    rows: [
      { cells: [words.openingBalance, cents(openingCents)] },
      { cells: [words.deposits, cents(depositCents)] },
      { cells: [words.refunds, cents(refundCents)] },
      { cells: [words.adjustments, cents(adjustmentCents)] },
      { cells: [words.usage, cents(usageCents)] },
      { cells: [words.closingBalance, cents(closingCents)], isTotal: true },
    ],
  }
}

const entryTable = (statement: Statement, { texts, formats }: Printing): PrintedTable => {
  const words = texts.statement
  const { entries, omitted, depositCents, refundCents, adjustmentCents } = statement
  const rows: PrintedRow[] = entries.map((entry) => ({
    cells: [formats.day(entry.createdAt), printable(noteOf(texts, entry)), formats.cents(entry.amountCents)],
  }))
  if (omitted.count > 0) {
    rows.push({ cells: ['', words.omitted(formats.count(omitted.count)), formats.cents(omitted.cents)] })
  }
  const total = formats.cents(depositCents + refundCents + adjustmentCents)
  rows.push({ cells: [words.total, '', total], isTotal: true })
  return { title: words.entries, columns: [start(texts.date, 1.6), start(texts.description), end(texts.amount)], rows }
}

const usageTable = ({ usage }: Statement, { texts, formats, context }: Printing): PrintedTable => {
  const words = texts.statement
  const { microcents, count } = formats
  const amount = (label: string, value: bigint): PrintedRow => ({ cells: [label, '', '', '', microcents(value)] })
  const rows: PrintedRow[] = usage.lines.map((line) => ({
    cells: [
      line.model === null ? words.otherModels : printable(context.modelName(line.model)),
      count(line.requestCount),
      count(line.inputTokens),
      count(line.outputTokens),
      microcents(line.microcents),
    ],
  }))
  if (usage.feeMicrocents !== 0n) rows.push(amount(words.fee, usage.feeMicrocents))
  if (usage.carriedInMicrocents !== 0n) rows.push(amount(words.carriedIn, usage.carriedInMicrocents))
  if (usage.carriedOutMicrocents !== 0n) rows.push(amount(words.carriedOut, -usage.carriedOutMicrocents))
  rows.push({ ...amount(words.charged, usage.totalMicrocents), isTotal: true })
  return {
    title: words.usageTable,
    columns: [
      start(words.model, 3),
      end(words.calls, 0.9),
      end(words.inputTokens, 1.3),
      end(words.outputTokens, 1.3),
      end(texts.amount, 1.5),
    ],
    rows,
  }
}

const planTable = ({ planPayments }: Statement, { texts, formats, context }: Printing): PrintedTable => {
  const { plans, receipt, total } = texts.statement
  const sum = planPayments.reduce((cents, { paidCents }) => cents + paidCents, 0n)
  return {
    title: plans,
    columns: [start(texts.date, 1.6), start(texts.description, 2.6), start(receipt, 1.4), end(texts.amount)],
    rows: [
      ...planPayments.map(({ createdAt, planId, receiptNumber, paidCents }) => ({
        cells: [
          formats.day(createdAt),
          texts.receipt.plan(planId === null ? null : printable(context.planName(planId))),
          receiptLabel(context.orgId, receiptNumber),
          formats.cents(paidCents),
        ],
      })),
      { cells: [total, '', '', formats.cents(sum)], isTotal: true },
    ],
  }
}

/** The statement as a document. */
export const printStatement = (statement: Statement, context: StatementContext): PrintedDocument => {
  const { orgId, language, seller, buyer, now } = context
  const texts = textsOf(language)
  const formats = formatsOf(language)
  const words = texts.statement
  const printing = { texts, formats, context }
  const { month, from, to, isProvisional, entries, usage, planPayments, closingCents } = statement
  const lastDay = new Date(Date.parse(to) - 1).toISOString()
  const hasUsage = usage.lines.length > 0 || usage.carriedInMicrocents !== 0n
  return {
    language,
    title: words.title,
    issuer: printable(seller?.name ?? ''),
    notice: isProvisional ? words.provisional(formats.month(month), formats.time(now.toISOString())) : null,
    facts: [
      [words.period, words.days(formats.day(from), formats.day(lastDay))],
      [words.orgId, orgId],
    ],
    parties: partiesOf(texts, seller, buyer),
    headline: words.closing(formats.cents(closingCents)),
    tables: [
      balanceTable(statement, printing),
      ...(entries.length > 0 ? [entryTable(statement, printing)] : []),
      ...(hasUsage ? [usageTable(statement, printing)] : []),
      ...(planPayments.length > 0 ? [planTable(statement, printing)] : []),
    ],
    notes: [...(hasUsage ? [words.usageNote] : []), ...(planPayments.length > 0 ? [words.planNote] : []), words.note],
    footer: words.name(formats.month(month)),
    pageLabel: texts.pageLabel,
    createdAt: isProvisional ? now.toISOString() : to,
  }
}
