import { Type } from 'typebox'
import { CreatedAt, CursorList, Nullable } from '../../platform/http/schemas.ts'
import { Cents } from '../spending/schemas.ts'

const text = (description: string, maxLength: number, example: string) =>
  Nullable(Type.String({ maxLength, description, examples: [example] }))

const details = {
  name: text(
    'Name on receipts and statements, at most 200 characters. Null: the name of the org.',
    200,
    'Northwind Ltd.',
  ),
  address: text(
    'Postal address, at most 500 characters and 6 lines. Null: none.',
    500,
    '1 Example Street\nLondon E1 6AN\nUnited Kingdom',
  ),
  taxId: text('Tax number, at most 50 characters. Null: none.', 50, 'GB123456789'),
  email: text('Email address of the accounting, at most 254 characters. Null: none.', 254, 'accounting@example.com'),
}

export const BillingDetails = Type.Object(details, {
  description: 'How the org is named on receipts of later payments and on statements.',
})

export const BillingDetailsPatch = Type.Partial(Type.Object(details), {
  description:
    'How the org is named on receipts of later payments and on statements. Fields that are not sent stay as they are; null or an empty text removes a field.',
})

const party = (description: string) =>
  Type.Object(
    {
      name: Type.String({ description: 'Name.', examples: ['Northwind Ltd.'] }),
      address: Nullable(
        Type.String({
          description: 'Postal address, with line breaks. Null: none.',
          examples: ['1 Example Street\nLondon'],
        }),
      ),
      taxId: Nullable(Type.String({ description: 'Tax number. Null: none.', examples: ['GB123456789'] })),
      email: Nullable(Type.String({ description: 'Email address. Null: none.', examples: ['accounting@example.com'] })),
    },
    { description },
  )

export const SellerParty = party('Who receives the payments: `BILLING_SELLER_NAME` and related settings of the server.')
export const sellerOrNull = () => Nullable(SellerParty, 'Who receives the payments. Null when the server names nobody.')
export const BuyerParty = party('The org.')

const receiptId = Type.String({
  description:
    'ID of the payment at Stripe. `checkout:…` or `direct:…` for a deposit without a payment at Stripe; it identifies the receipt as well.',
  examples: ['pi_3SWcdGKb1cH5x0aT0Q8fVf2L'],
})

export const paymentIntentId = Type.String({
  description: 'ID of the payment at Stripe.',
  examples: ['pi_3SWcdGKb1cH5x0aT0Q8fVf2L'],
})

export const receiptNumber = Type.String({
  description:
    'Number of the receipt: the last 8 digits of the ID of the org, and the number of the payment in the org, counted from 1 without gaps.',
  examples: ['10F54A7E-0001'],
})

export const PaymentReceipt = Type.Object(
  {
    paymentIntentId: receiptId,
    number: receiptNumber,
    kind: Type.Enum(['deposit', 'topup', 'plan', 'direct'], {
      description:
        '`deposit`: a person added to the balance. `topup`: automatic top-up. `plan`: a month of a plan. `direct`: a deposit without a payment.',
    }),
    planId: Nullable(
      Type.String({
        description: 'ID of the plan. Null for a deposit, and for a plan that was paid before the server kept it.',
        examples: [null],
      }),
    ),
    paidCents: Cents('Amount that was paid; 0 for a deposit without a payment', 2_500),
    creditedCents: Cents('Amount that was added to the balance; 0 for a plan without credit', 2_500),
    currency: Type.Literal('usd', { description: 'Always `usd`.' }),
    seller: sellerOrNull(),
    buyer: BuyerParty,
    createdAt: CreatedAt,
  },
  {
    description:
      'The receipt of a payment or of a deposit without one. A later refund or change of billing details does not change it. The seller is that of the current settings of the server.',
  },
)

export const PaymentReceiptList = CursorList(PaymentReceipt)

export const ReceiptParams = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      'ID of the payment at Stripe, or the `receiptId` of a deposit in `GET /billing/transactions`. At most 255 characters.',
  }),
})
