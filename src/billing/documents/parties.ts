import type { Seller } from '../../config/billing.ts'
import type { BillingDetails } from '../receipts/queries.ts'
import type { PrintedParty } from './document.ts'
import { printable, printableLines } from './format.ts'
import type { Texts } from './texts.ts'

const linesOf = ({ name, address, taxId, email }: BillingDetails, { taxId: labelled }: Texts): string[] => [
  printable(name ?? ''),
  ...printableLines(address),
  ...(email === null ? [] : [printable(email)]),
  ...(taxId === null ? [] : [labelled(printable(taxId))]),
]

/** Seller, if the server has one, and buyer. */
export const partiesOf = (texts: Texts, seller: Seller | null, buyer: BillingDetails): PrintedParty[] => [
  ...(seller === null ? [] : [{ label: texts.seller, lines: linesOf(seller, texts) }]),
  { label: texts.buyer, lines: linesOf(buyer, texts) },
]
