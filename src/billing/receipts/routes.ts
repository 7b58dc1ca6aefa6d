import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorQuery, ok, Success } from '../../platform/http/schemas.ts'
import { documentResponse, DocumentQuery, languageOf, sendDocument } from '../documents/send.ts'
import type { BillingRouteDeps } from '../deps.ts'
import { planNames } from '../plan-names.ts'
import { toReceipt } from './output.ts'
import { printReceipt } from './print.ts'
import { getReceipt, listReceipts } from './receipts.ts'
import { PaymentReceipt, PaymentReceiptList, ReceiptParams } from './schemas.ts'

const tags = ['Billing']
const base = `${apiPrefix}/billing/receipts`

export const registerReceiptRoutes = (
  app: App,
  { config: { billing: config }, db, printer }: Pick<BillingRouteDeps, 'config' | 'db' | 'printer'>,
): void => {
  app.get(
    base,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'List receipts',
        description:
          'Returns the receipts of all payments of the org and of its deposits without a payment, newest first.',
        querystring: CursorQuery,
        response: { 200: Success(PaymentReceiptList) },
      },
    },
    async ({ actor, query: { limit, cursor } }) => {
      const before = cursor === undefined ? null : BigInt(decodeCursor(cursor, ['number'])[0])
      const found = await listReceipts(db, actor.orgId, { before, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = items.at(-1)
      const nextCursor = found.length > limit && last ? encodeCursor([Number(last.receiptNumber)]) : null
      return ok({ items: items.map((receipt) => toReceipt(receipt, config)), nextCursor })
    },
  )

  app.get(
    `${base}/:id`,
    {
      config: { access: 'billing:read', what: 'Receipt' },
      schema: {
        tags,
        summary: 'Retrieve a receipt',
        description: 'Returns the receipt of a payment or of a deposit without one. NOT_FOUND for one of another org.',
        params: ReceiptParams,
        response: { 200: Success(PaymentReceipt) },
      },
    },
    async ({ actor, params }) => ok(toReceipt(await getReceipt(db, actor.orgId, params.id), config)),
  )

  app.get(
    `${base}/:id/document`,
    {
      config: { access: 'billing:read', what: 'Receipt', errors: ['SERVICE_UNAVAILABLE'] },
      schema: {
        tags,
        summary: 'Download a receipt',
        description:
          'Returns the receipt of a payment or of a deposit without one as a PDF file or as a page, in English or German. In a PDF, characters that are neither Latin, Greek nor Cyrillic are replaced; the page has them. SERVICE_UNAVAILABLE when too many PDF files are being made.',
        params: ReceiptParams,
        querystring: DocumentQuery,
        response: documentResponse('The receipt.'),
      },
    },
    async ({ actor, params, query: { format, language } }, reply) => {
      const receipt = await getReceipt(db, actor.orgId, params.id)
      const document = printReceipt(receipt, {
        language: await languageOf(db, actor, language),
        seller: config.seller,
        planName: planNames(config),
      })
      return sendDocument(reply, printer, { actor, name: `receipt-${receipt.label}`, format }, document) as never
    },
  )
}
