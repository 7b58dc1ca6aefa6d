import type { Seller } from '../../config/billing.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PrintedDocument } from '../documents/document.ts'
import { formatsOf, printable } from '../documents/format.ts'
import { partiesOf } from '../documents/parties.ts'
import { textsOf } from '../documents/texts.ts'
import type { Receipt } from './receipts.ts'

export interface ReceiptContext {
  language: Language
  seller: Seller | null
  /** The name of a plan; its id when it is not sold any more. */
  planName: (planId: string) => string
}

/** The receipt as a document. */
export const printReceipt = (receipt: Receipt, { language, seller, planName }: ReceiptContext): PrintedDocument => {
  const texts = textsOf(language)
  const words = texts.receipt
  const formats = formatsOf(language)
  const { kind, label, paid, planId, amountCents, createdAt, paymentIntentId, buyer } = receipt
  const isDirect = kind === 'direct'
  const amount = formats.cents(isDirect ? amountCents : paid)
  const day = formats.day(createdAt)
  const items = {
    plan: words.plan(planId === null ? null : printable(planName(planId))),
    topup: words.topup,
    deposit: words.deposit,
    direct: words.deposit,
  }
  return {
    language,
    title: words.title,
    issuer: printable(seller?.name ?? ''),
    notice: null,
    facts: [
      [words.number, label],
      [isDirect ? words.addedOn : words.paidOn, day],
      ...(isDirect ? [] : [[words.paymentId, printable(paymentIntentId)] satisfies [string, string]]),
    ],
    parties: partiesOf(texts, seller, buyer),
    headline: isDirect ? words.directHeadline(amount, day) : words.headline(amount, day),
    tables: [
      {
        title: words.items,
        columns: [
          { title: texts.description, align: 'start', width: 4 },
          { title: texts.amount, align: 'end', width: 1 },
        ],
        rows: [
          { cells: [items[kind], amount] },
          { cells: [words.total, amount] },
          { cells: [words.paid, formats.cents(paid)], isTotal: true },
        ],
      },
    ],
    notes: [
      ...(isDirect ? [words.directNote] : []),
      ...(kind === 'plan' && amountCents > 0n ? [words.credit(formats.cents(amountCents))] : []),
      words.note,
    ],
    footer: words.name(label),
    pageLabel: texts.pageLabel,
    createdAt,
  }
}
