import { Type } from 'typebox'
import { CreatedAt, Id, ListQuery, Nullable, Page, TimestampOf } from '../platform/http/schemas.ts'
import { BillingDetails, BillingDetailsPatch } from './receipts/schemas.ts'
import { Cents, Count, Microcents, Usage } from './spending/schemas.ts'

const Cap = (description: string) => Nullable(Type.Integer({ description, examples: [null] }))

const Transaction = Type.Object(
  {
    id: Id,
    type: Type.Enum(['deposit', 'usage', 'refund', 'adjustment', 'platform_fee'], {
      description: 'Why the balance changed.',
    }),
    amountCents: Cents('Change of the balance, negative for a charge', 1_000),
    balanceAfterCents: Cents('Balance after the transaction', 1_000),
    paymentIntentId: Type.Optional(
      Type.String({
        description: 'ID of the payment at Stripe. Absent without a payment.',
        examples: ['pi_3SWcdGKb1cH5x0aT0Q8fVf2L'],
      }),
    ),
    receiptId: Type.Optional(
      Type.String({
        description: 'ID of the receipt, for `GET /billing/receipts/:id`. Present for deposits only.',
        examples: ['pi_3SWcdGKb1cH5x0aT0Q8fVf2L'],
      }),
    ),
    notes: Nullable(Type.String({ description: 'Explanation of the transaction.', examples: ['Deposit by card'] })),
    createdAt: CreatedAt,
  },
  { description: 'An entry of the ledger. Transactions are never changed or deleted.' },
)

export const TransactionPage = Page(Transaction)

export const TransactionListQuery = Type.Object({
  ...ListQuery.properties,
  type: Type.Optional(
    Type.String({
      description:
        'Return only transactions of this type: `deposit`, `usage`, `refund`, `adjustment` or `platform_fee`. Any other value is ignored.',
    }),
  ),
})

const Topup = Type.Object(
  {
    id: Id,
    state: Type.Enum(['due', 'processing', 'succeeded', 'declined', 'failed'], {
      description: 'State of the payment.',
    }),
    amountCents: Cents('Amount', 2_500),
    failureCode: Nullable(
      Type.String({ description: 'Error code of the payment provider. Null without an error.', examples: [null] }),
    ),
    failureMessage: Nullable(
      Type.String({ description: 'Why the payment failed. Null when it did not.', examples: [null] }),
    ),
    createdAt: CreatedAt,
    endedAt: Nullable(TimestampOf('Time when the payment succeeded or failed. Null before that.', null)),
  },
  { description: 'One automatic top-up.' },
)

const AutoTopup = Type.Object(
  {
    state: Type.Enum(
      ['off', 'no_payment_method', 'balance_suffices', 'backing_off', 'monthly_cap', 'due', 'under_way'],
      {
        description:
          'State of automatic top-up. `backing_off`: a payment was declined and is attempted again at `retryAt`. `monthly_cap`: another top-up would exceed the monthly limit. `due`: a payment starts within a minute. `under_way`: a payment is being made.',
      },
    ),
    reason: Type.String({
      description: 'Explanation of the state.',
      examples: ['Automatic top-up is turned off.'],
    }),
    retryAt: Nullable(TimestampOf('Time of the next attempt. Null when none is planned.', null)),
    hasPaymentMethod: Type.Boolean({ description: 'Whether a card is saved. A deposit by card saves one.' }),
    monthlyCapCents: Cap('Maximum amount of automatic top-ups in a calendar month (UTC), in cents. Null: no limit.'),
    chargedThisMonthCents: Cents('Sum of the automatic top-ups of this calendar month (UTC)'),
    recent: Type.Array(Topup, { description: 'Latest automatic top-ups, newest first.', examples: [[]] }),
  },
  { description: 'Automatic top-up.' },
)

const limit = {
  monthlyCapCents: Cap('Maximum amount charged in a calendar month (UTC), in cents. Null: no limit.'),
  chargedThisMonthMicrocents: Microcents('Charged in this calendar month (UTC)', 3_362_137),
  chargedThisMonthCents: Cents('Charged in this calendar month (UTC), rounded down', 336),
  state: Type.Enum(['free', 'near', 'reached'], {
    description: '`free`: below 80 % of the limit. `near`: 80 % or more. `reached`: paid turns are rejected.',
  }),
}

const Promotion = Type.Object(
  {
    id: Id,
    code: Type.String({ description: 'Code that was redeemed.', examples: ['WELCOME'] }),
    description: Nullable(Type.String({ description: 'Purpose of the promotion.', examples: ['Welcome credit'] })),
    amountCents: Cents('Credit that was granted', 500),
    remainingCents: Cents('Credit that is not used up', 500),
    expiresAt: Nullable(
      TimestampOf('Time when the remaining credit expires. Null: never.', '2027-02-18T00:00:00.000Z'),
    ),
  },
  { description: 'A promotion that the org redeemed.' },
)
export { Promotion }

export const BillingSnapshot = Type.Object(
  {
    balance: Type.Object(
      {
        balanceCents: Cents('Balance', 2_664),
        cumulativeDepositsCents: Cents('Sum of all deposits', 3_000),
        autoTopupEnabled: Type.Boolean({ description: 'Whether automatic top-up is on. Default false.' }),
        autoTopupThresholdCents: Cents('Balance below which automatic top-up charges the saved card. Default 500', 500),
        autoTopupAmountCents: Cents('Amount of an automatic top-up. Default 2,500', 2_500),
        remainderMicrocents: Microcents('Charged, but less than a cent and not in the balance yet', 2_137),
        reservedMicrocents: Microcents('Reserved for running turns'),
      },
      { description: 'Balance and settings of automatic top-up.' },
    ),
    waiver: Type.Object(
      {
        active: Type.Boolean({ description: 'Whether the platform fee is waived for the org.' }),
        remainingCents: Cents('Deposits that the org can still make before the fee applies'),
      },
      { description: 'Waiver of the platform fee.' },
    ),
    payment: Type.Object(
      {
        paymentProviderConfigured: Type.Boolean({
          description: 'Whether payments by Stripe are set up.',
          examples: [true],
        }),
        webhookConfigured: Type.Boolean({ description: "Whether Stripe's webhook is set up.", examples: [true] }),
        publishableKeyConfigured: Type.Boolean({
          description: "Whether Stripe's publishable key is set.",
          examples: [true],
        }),
        directDepositAvailable: Type.Boolean({
          description: 'Whether deposits without a payment are possible. Never in production.',
        }),
        billingEnforced: Type.Boolean({
          description: 'Whether paid turns need a sufficient balance.',
          examples: [true],
        }),
      },
      { description: 'Payment settings of the server.' },
    ),
    usage: Type.Object(
      {
        currentMonth: Type.Object(
          {
            ...Usage,
            monthStart: TimestampOf('Start of the calendar month (UTC).', '2026-11-01T00:00:00.000Z'),
            operationBreakdown: Type.Array(
              Type.Object({
                operation: Type.String({
                  description:
                    '`chat`: a person talks with an agent. `peer`: agents talk with each other. `connector`: an agent responds in a chat of a provider. `embedding`: an embedding model, without an agent.',
                  examples: ['chat'],
                }),
                requestCount: Count('Number of model calls.', 42),
                totalChargedMicrocents: Microcents('Charged', 3_362_137),
                totalChargedCents: Cents('Charged, rounded down', 336),
              }),
              { description: 'Usage by operation.' },
            ),
          },
          { description: 'Usage of the current calendar month (UTC).' },
        ),
      },
      { description: 'Usage of models.' },
    ),
    transactions: Type.Array(Transaction, { description: 'Latest transactions, newest first.' }),
    promotions: Type.Array(Promotion, { description: 'Promotions that the org redeemed.' }),
    subscription: Nullable(
      Type.Object({
        planId: Type.String({ description: 'ID of the plan.', examples: ['pro'] }),
        planName: Type.String({ description: 'Name of the plan.', examples: ['Pro'] }),
        status: Type.String({
          description: 'Status of the subscription at Stripe, such as `active`, `past_due` or `canceled`.',
          examples: ['active'],
        }),
        cancelAtPeriodEnd: Type.Boolean({ description: 'Whether the plan ends with the paid month.' }),
        currentPeriodEnd: Nullable(
          TimestampOf('End of the paid month. Null before the first payment.', '2026-12-20T08:15:30.000Z'),
        ),
        createdAt: CreatedAt,
      }),
      'The monthly plan. Null without one.',
    ),
    replacedPlans: Type.Array(
      Type.Object({
        planId: Type.String({ description: 'ID of the plan.', examples: ['pro'] }),
        planName: Type.String({ description: 'Name of the plan.', examples: ['Pro'] }),
        state: Type.Enum(['canceling', 'refunding', 'failed'], {
          description:
            '`canceling` or `refunding`: Stripe has not confirmed it yet. `failed`: Stripe has rejected it for three days, so that a person must act in the Stripe dashboard.',
        }),
        since: TimestampOf('Time when the plan was replaced.', '2026-11-20T08:15:30.000Z'),
      }),
      {
        description:
          'Subscriptions that another purchase replaced and that Stripe has not canceled or refunded yet, the oldest first.',
        examples: [[]],
      },
    ),
    billingDetails: BillingDetails,
    autoTopup: AutoTopup,
    limits: Type.Object(
      {
        org: Type.Object(limit, { description: 'Spending limit of the org.' }),
        agents: Type.Array(
          Type.Object({
            id: Id,
            name: Type.String({ description: 'Name of the agent.', examples: ['Release notes'] }),
            slug: Type.String({ description: 'Slug of the agent.', examples: ['release-notes'] }),
            ...limit,
          }),
          {
            description: 'Agents with a spending limit. Empty for callers without the permission `billing:manage`.',
            examples: [[]],
          },
        ),
      },
      { description: 'Spending limits.' },
    ),
  },
  { description: 'Billing of the org at one moment.' },
)

/** A hundred million dollars: more than any limit in practice, and still an exact integer in JavaScript. */
const mostCents = 10_000_000_000

export const BillingPatch = Type.Object(
  {
    autoTopupEnabled: Type.Optional(Type.Boolean({ description: 'Whether automatic top-up is on.', examples: [true] })),
    autoTopupThresholdCents: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: mostCents,
        description:
          'Balance below which automatic top-up charges the saved card and the event `balance.low` occurs, in cents, 100–10,000,000,000.',
        examples: [500],
      }),
    ),
    autoTopupAmountCents: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 99_999_999,
        description: 'Amount of an automatic top-up, in cents, 100–99,999,999.',
        examples: [2_500],
      }),
    ),
    autoTopupMonthlyCapCents: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 100,
          maximum: mostCents,
          description:
            'Maximum amount of automatic top-ups in a calendar month (UTC), in cents, 100–10,000,000,000. Null: no limit.',
          examples: [10_000],
        }),
      ),
    ),
    monthlyCapCents: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: mostCents,
          description:
            'Maximum amount that the org may be charged in a calendar month (UTC), in cents, 0–10,000,000,000. Paid turns beyond it are PAYMENT_REQUIRED. Null: no limit.',
          examples: [20_000],
        }),
      ),
    ),
    billingDetails: Type.Optional(
      Nullable(
        BillingDetailsPatch,
        'Billing details to change. Fields that are not sent stay as they are. Null removes all.',
      ),
    ),
  },
  { description: 'Settings to change. Those that are not sent stay as they are.' },
)

export const Updated = Type.Object(
  { updated: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the settings are saved.' },
)

export const Redeem = Type.Object({
  code: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Promotion code, 1–100 characters.',
    examples: ['WELCOME'],
  }),
})
