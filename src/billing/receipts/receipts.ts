import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { getOrg } from '../../identity/members/orgs.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { lockAccount } from '../ledger/queries.ts'
import { insertPayment } from '../payments/queries.ts'
import type { NewPayment } from '../payments/queries.ts'
import * as queries from './queries.ts'
import type { BillingDetails, Buyer, ReceiptRow } from './queries.ts'

const noDetails: BillingDetails = { name: null, address: null, taxId: null, email: null }

/** The details that the org has set. */
export const getDetails = async (db: Db, orgId: string): Promise<BillingDetails> => ({
  ...noDetails,
  ...(await queries.findDetails(db, orgId)),
})

/** The org as a buyer, now. */
export const getBuyer = async (db: Db, orgId: string): Promise<Buyer> => {
  const details = await getDetails(db, orgId)
  return { ...details, name: details.name ?? (await getOrg(db, orgId)).name }
}

export type DetailsPatch = { [Field in keyof BillingDetails]?: string | null | undefined }

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()

const maxAddressLines = 6

const toAddress = (text: string): string => {
  const lines = text
    .split(/\r?\n/)
    .map(oneLine)
    .filter((line) => line !== '')
  if (lines.length > maxAddressLines) {
    throw badRequest(`billingDetails.address must have at most ${maxAddressLines} lines`)
  }
  return lines.join('\n')
}

const toEmail = (text: string): string => {
  const email = text.trim()
  if (email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw badRequest('billingDetails.email must be an email address')
  return email
}

/** Changes the fields that are sent; empty text removes one. Null removes all. BAD_REQUEST for an invalid value. */
export const setDetails = async (db: Transaction, orgId: string, patch: DetailsPatch | null): Promise<void> => {
  if (patch === null) return void (await queries.setDetails(db, orgId, null))
  const before = await getDetails(db, orgId)
  const next = (field: keyof BillingDetails, clean: (text: string) => string): string | null => {
    const wanted = patch[field]
    if (wanted === undefined) return before[field]
    const cleaned = wanted === null ? '' : clean(wanted)
    return cleaned === '' ? null : cleaned
  }
  const details = {
    name: next('name', oneLine),
    address: next('address', toAddress),
    taxId: next('taxId', oneLine),
    email: next('email', toEmail),
  }
  return void (await queries.setDetails(db, orgId, details))
}

/**
 * Stores a payment with its receipt: its number and the buyer's details of this moment. The payment and its account must
 * be locked. False when it was stored before.
 */
export const storePayment = async (db: Transaction, payment: Omit<NewPayment, 'buyer'>): Promise<boolean> => {
  const { orgId } = payment
  const isNew = await insertPayment(db, { ...payment, buyer: await getBuyer(db, orgId) })
  if (isNew) await queries.numberPayments(db, orgId)
  return isNew
}

/** Stores receipts of the deposits without a payment that have none. The account must be locked. */
export const storeDirectDeposits = async (db: Transaction, orgId: string): Promise<void> => {
  await queries.insertDirectDeposits(db, orgId, await getBuyer(db, orgId))
  await queries.numberPayments(db, orgId)
}

/** Completes the receipts of what the previous version has stored. Call it before receipts are read. */
export const completeReceipts = async (db: Database, orgId: string): Promise<void> => {
  if (!(await queries.lacksReceipts(db, orgId))) return
  await db.transaction({ orgId }, async (db) => {
    await lockAccount(db, orgId)
    await storeDirectDeposits(db, orgId)
  })
}

/** The id of the receipt of a deposit: that of its payment, or of its transaction when there is no payment. */
export const receiptIdOf = ({ id, paymentIntentId }: { id: string; paymentIntentId: string | null }): string =>
  paymentIntentId ?? queries.directPrefix + id

/**
 * The number of a receipt as people see it: the end of the org's id, so that it is unique on this server, and the number
 * of the payment in the org.
 */
export const receiptLabel = (orgId: string, receiptNumber: bigint): string =>
  `${orgId.slice(-8).toUpperCase()}-${String(receiptNumber).padStart(4, '0')}`

export type ReceiptKind = 'deposit' | 'topup' | 'plan' | 'direct'

export type Receipt = ReceiptRow & { kind: ReceiptKind; buyer: Buyer; label: string; paid: bigint }

const kindOf = ({ paymentIntentId, paidCents, isAutomatic }: ReceiptRow): ReceiptKind => {
  if (paymentIntentId.startsWith(queries.directPrefix)) return 'direct'
  if (paidCents !== null) return 'plan'
  return isAutomatic ? 'topup' : 'deposit'
}

const toReceipt = (orgId: string, row: ReceiptRow, buyer: Buyer): Receipt => {
  const kind = kindOf(row)
  return {
    ...row,
    kind,
    buyer: row.buyer ?? buyer,
    label: receiptLabel(orgId, row.receiptNumber),
    paid: kind === 'direct' ? 0n : (row.paidCents ?? row.amountCents),
  }
}

/** The receipt of a payment or of a direct deposit. NOT_FOUND for an unknown one. */
export const getReceipt = async (db: Database, orgId: string, paymentIntentId: string): Promise<Receipt> => {
  await completeReceipts(db, orgId)
  const row = await queries.findReceipt(db, orgId, paymentIntentId)
  if (!row) throw notFound('Receipt')
  return toReceipt(orgId, row, await getBuyer(db, orgId))
}

/** Receipts numbered below `before`, newest first. */
export const listReceipts = async (
  db: Database,
  orgId: string,
  { before, limit }: { before: bigint | null; limit: number },
): Promise<Receipt[]> => {
  await completeReceipts(db, orgId)
  const buyer = await getBuyer(db, orgId)
  return (await queries.listReceipts(db, orgId, before, limit)).map((row) => toReceipt(orgId, row, buyer))
}
