import { Type } from 'typebox'
import { CreatedAt, CursorList, Id, Nullable, TimestampOf } from '../../platform/http/schemas.ts'
import { BuyerParty, paymentIntentId, receiptNumber, sellerOrNull } from '../receipts/schemas.ts'
import { Cents, Count, Microcents } from '../spending/schemas.ts'

const month = Type.String({ description: 'Calendar month in UTC.', examples: ['2026-11'] })

const figures = {
  month,
  provisional: Type.Boolean({
    description: 'Whether the figures can still change. A month is final an hour after its end.',
  }),
  openingBalanceCents: Cents('Balance before the first transaction of the month', 1_000),
  depositsCents: Cents('Sum of the deposits', 2_500),
  refundsCents: Cents('Sum of refunds and disputes, 0 or negative'),
  adjustmentsCents: Cents('Sum of the adjustments: credits of plans and promotions, reversed refunds and corrections'),
  usageCents: Cents('Sum of the charges for usage and of the platform fee, 0 or negative', -836),
  closingBalanceCents: Cents(
    'Balance after the last transaction of the month: the sum of the opening balance, deposits, refunds, adjustments and usage',
    2_664,
  ),
}

export const StatementList = CursorList(
  Type.Object(figures, { description: 'The sums of a month with transactions or usage.' }),
)

const Entry = Type.Object(
  {
    id: Id,
    type: Type.Enum(['deposit', 'refund', 'adjustment'], { description: 'Why the balance changed.' }),
    amountCents: Cents('Change of the balance', 2_500),
    notes: Nullable(Type.String({ description: 'Explanation.', examples: ['Automatic top-up'] })),
    paymentIntentId: Nullable(paymentIntentId, 'ID of the payment at Stripe. Null without a payment.'),
    createdAt: CreatedAt,
  },
  { description: 'A transaction of the ledger.' },
)

const ModelLine = Type.Object(
  {
    id: Nullable(
      Type.String({
        description: 'ID of the model. Null for all other models.',
        examples: ['anthropic/claude-sonnet-4-5'],
      }),
    ),
    name: Type.String({ description: 'Name of the model.', examples: ['Claude Sonnet 4.5'] }),
    requestCount: Count('Number of model calls, including free ones.', 42),
    inputTokens: Count('Input tokens.', 812_345),
    outputTokens: Count('Output tokens.', 51_000),
    amountMicrocents: Microcents('Charged, without the platform fee', 8_000_000),
  },
  { description: 'The usage of one model.' },
)

const StatementUsage = Type.Object(
  {
    models: Type.Array(ModelLine, {
      description: 'The 200 models with the highest charges, highest first, and all others as one.',
    }),
    platformFeeMicrocents: Microcents('Platform fee', 360_000),
    carriedInMicrocents: Microcents('Charged before the month and posted in it'),
    carriedOutMicrocents: Microcents('Charged in the month and not posted in it: a rest below a cent'),
    totalMicrocents: Microcents(
      'Posted in the month, a whole number of cents: models, platform fee and `carriedInMicrocents`, without `carriedOutMicrocents`',
      8_360_000,
    ),
  },
  { description: 'The usage of the month, and how it became whole cents.' },
)

export const Statement = Type.Object(
  {
    ...figures,
    from: TimestampOf('Start of the month, inclusive.', '2026-11-01T00:00:00.000Z'),
    to: TimestampOf('End of the month, exclusive.', '2026-12-01T00:00:00.000Z'),
    currency: Type.Literal('usd', { description: 'Always `usd`.' }),
    seller: sellerOrNull(),
    buyer: BuyerParty,
    entries: Type.Array(Entry, {
      description:
        'Deposits, refunds and adjustments, oldest first, at most 500. `omittedCount` has the number of others.',
    }),
    omittedCount: Count('Number of deposits, refunds and adjustments that are not in `entries`.'),
    omittedCents: Cents('Sum of those that are not in `entries`'),
    usage: StatementUsage,
    planPayments: Type.Array(
      Type.Object({
        paymentIntentId,
        receiptNumber,
        planId: Nullable(Type.String({ description: 'ID of the plan. Null when it is unknown.', examples: ['pro'] })),
        paidCents: Cents('Amount that was paid', 2_000),
        createdAt: CreatedAt,
      }),
      {
        description: 'Payments for plans that include credit, at most 50. They do not change the balance.',
        examples: [[]],
      },
    ),
  },
  { description: 'The changes of the balance in a month. All sums are exact.' },
)

export const StatementParams = Type.Object({
  month: Type.String({
    maxLength: 7,
    description: 'Calendar month in UTC of 7 characters, such as `2026-11`.',
    examples: ['2026-11'],
  }),
})
