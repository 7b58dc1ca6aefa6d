import type { Seller } from '../../config/billing.ts'
import type { Language } from '../../identity/languages.ts'
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
  const { label, paid, paidCents, planId, isAutomatic, amountCents, createdAt, paymentIntentId, buyer } = receipt
  const amount = formats.cents(paid)
  const day = formats.day(createdAt)
  const isPlan = paidCents !== null
  const plan = words.plan(planId === null ? null : printable(planName(planId)))
  return {
    language,
    title: words.title,
    issuer: printable(seller?.name ?? ''),
    notice: null,
    facts: [
      [words.number, label],
      [words.paidOn, day],
      [words.paymentId, printable(paymentIntentId)],
    ],
    parties: partiesOf(texts, seller, buyer),
    headline: words.headline(amount, day),
    tables: [
      {
        title: words.items,
        columns: [
          { title: texts.description, align: 'start', width: 4 },
          { title: texts.amount, align: 'end', width: 1 },
        ],
        rows: [
          { cells: [isPlan ? plan : isAutomatic ? words.topup : words.deposit, amount] },
          { cells: [words.total, amount] },
          { cells: [words.paid, amount], isTotal: true },
        ],
      },
    ],
    notes: [...(isPlan ? [words.credit(formats.cents(amountCents))] : []), words.note],
    footer: words.name(label),
    pageLabel: texts.pageLabel,
    createdAt,
  }
}
