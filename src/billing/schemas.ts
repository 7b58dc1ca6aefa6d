import { Type } from 'typebox'
import { Id, ListQuery, Nullable, Page, Timestamp } from '../platform/http/schemas.ts'
import { keyProviders } from './provider-keys/provider-keys.ts'

const Cents = (description?: string) => Type.Integer(description === undefined ? {} : { description })
const Microcents = Type.Integer({ description: '10,000 microcents are a cent' })

const Transaction = Type.Object({
  id: Id,
  type: Type.Enum(['deposit', 'usage', 'refund', 'adjustment', 'platform_fee']),
  amountCents: Cents('Signed: what it does to the balance'),
  balanceAfterCents: Cents(),
  paymentIntentId: Type.Optional(Type.String()),
  notes: Nullable(Type.String()),
  createdAt: Timestamp,
})

export const TransactionPage = Page(Transaction)

export const TransactionListQuery = Type.Object({
  ...ListQuery.properties,
  type: Type.Optional(
    Type.String({ description: 'deposit, usage, refund, adjustment or platform_fee; anything else means no filter' }),
  ),
})

const tokens = {
  inputTokens: Type.Integer({ description: 'Cached ones included' }),
  outputTokens: Type.Integer(),
  cacheReadTokens: Type.Integer(),
  cacheWriteTokens: Type.Integer(),
  totalTokens: Type.Integer(),
}

const Usage = {
  requestCount: Type.Integer({ description: 'Calls of models, free ones included' }),
  byokRequestCount: Type.Integer({ description: "Those on the org's own provider key" }),
  ...tokens,
  providerCostMicrocents: Microcents,
  platformFeeMicrocents: Microcents,
  totalChargedMicrocents: Microcents,
  totalChargedCents: Cents('Whole cents of it'),
}

const Topup = Type.Object({
  id: Id,
  state: Type.Enum(['due', 'processing', 'succeeded', 'declined', 'failed']),
  amountCents: Cents(),
  failureCode: Nullable(Type.String()),
  failureMessage: Nullable(Type.String()),
  createdAt: Timestamp,
  endedAt: Nullable(Timestamp),
})

const AutoTopup = Type.Object({
  state: Type.Enum(['off', 'no_payment_method', 'balance_suffices', 'backing_off', 'monthly_cap', 'due', 'under_way']),
  reason: Type.String({ description: 'Why the account is, or is not, filled up right now' }),
  retryAt: Nullable(Timestamp),
  hasPaymentMethod: Type.Boolean(),
  monthlyCapCents: Nullable(Type.Integer()),
  chargedThisMonthCents: Cents(),
  recent: Type.Array(Topup),
})

const limit = {
  monthlyCapCents: Nullable(Type.Integer()),
  chargedThisMonthMicrocents: Microcents,
  chargedThisMonthCents: Cents(),
  state: Type.Enum(['free', 'near', 'reached'], { description: 'near: 80 % of the cap are used up' }),
}

const Promotion = Type.Object({
  id: Id,
  code: Type.String(),
  description: Nullable(Type.String()),
  amountCents: Cents(),
  remainingCents: Cents('Not used up yet'),
  expiresAt: Nullable(Timestamp),
})
export { Promotion }

export const BillingSnapshot = Type.Object({
  balance: Type.Object({
    balanceCents: Cents(),
    cumulativeDepositsCents: Cents(),
    autoTopupEnabled: Type.Boolean(),
    autoTopupThresholdCents: Cents(),
    autoTopupAmountCents: Cents(),
    remainderMicrocents: Type.Integer({ description: 'Charged, and less than a cent yet' }),
    reservedMicrocents: Type.Integer({ description: 'What turns that run may still cost' }),
  }),
  waiver: Type.Object({ active: Type.Boolean(), remainingCents: Cents() }),
  payment: Type.Object({
    paymentProviderConfigured: Type.Boolean(),
    webhookConfigured: Type.Boolean(),
    publishableKeyConfigured: Type.Boolean(),
    directDepositAvailable: Type.Boolean(),
    billingEnforced: Type.Boolean(),
  }),
  usage: Type.Object({
    currentMonth: Type.Object({
      ...Usage,
      monthStart: Timestamp,
      operationBreakdown: Type.Array(
        Type.Object({
          operation: Type.String(),
          requestCount: Type.Integer(),
          totalChargedMicrocents: Microcents,
          totalChargedCents: Cents(),
        }),
      ),
    }),
  }),
  transactions: Type.Array(Transaction),
  promotions: Type.Array(Promotion),
  subscription: Nullable(
    Type.Object({
      planId: Type.String(),
      planName: Type.String(),
      status: Type.String({ description: 'active, past_due, canceled, …' }),
      cancelAtPeriodEnd: Type.Boolean(),
      currentPeriodEnd: Nullable(Timestamp),
      createdAt: Timestamp,
    }),
  ),
  autoTopup: AutoTopup,
  limits: Type.Object({
    org: Type.Object(limit),
    agents: Type.Array(Type.Object({ id: Id, name: Type.String(), slug: Type.String(), ...limit }), {
      description: 'Agents with a cap of their own; empty for those who do not manage billing',
    }),
  }),
})

/** A hundred million dollars: far beyond what anybody means, far below what a number cannot hold. */
const mostCents = 10_000_000_000

export const BillingPatch = Type.Object({
  autoTopupEnabled: Type.Optional(Type.Boolean()),
  autoTopupThresholdCents: Type.Optional(Type.Integer({ minimum: 100, maximum: mostCents })),
  autoTopupAmountCents: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 99_999_999, description: 'No card payment is larger than 99,999,999' }),
  ),
  autoTopupMonthlyCapCents: Type.Optional(
    Nullable(Type.Integer({ minimum: 100, maximum: mostCents, description: 'No more than this by itself in a month' })),
  ),
  monthlyCapCents: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: mostCents, description: 'Paid turns are refused beyond it' })),
  ),
})

export const Updated = Type.Object({ updated: Type.Literal(true) })

export const DepositCreate = Type.Object({
  amountCents: Type.Integer({ minimum: 100, maximum: 100_000 }),
  method: Type.Optional(Type.Literal('direct')),
})

export const DepositStarted = Type.Object({
  checkoutUrl: Type.Optional(Type.String()),
  sessionId: Type.Optional(Type.String()),
  deposited: Type.Optional(Type.Integer()),
  method: Type.Optional(Type.Literal('direct')),
  message: Type.Optional(Type.String()),
})

export const SubscriptionCreate = Type.Object({ planId: Type.String({ minLength: 1, maxLength: 63 }) })

export const SubscriptionStarted = Type.Object({
  checkoutUrl: Type.String(),
  sessionId: Type.String(),
  planId: Type.String(),
})

export const SubscriptionEnded = Type.Object({
  planId: Type.String(),
  cancelAtPeriodEnd: Type.Literal(true),
  currentPeriodEnd: Nullable(Timestamp),
})

const Rate = Type.Integer({ description: 'Microcents for a million tokens' })
const rates = { inputMicrocents: Rate, outputMicrocents: Rate, cacheReadMicrocents: Rate, cacheWriteMicrocents: Rate }

const quota = (description: string) => Nullable(Type.Integer({ description: `${description}; null: unlimited` }))

const PlanQuotas = Type.Object({
  storedBytes: quota('The most bytes in files'),
  files: quota('The most files, folders and links'),
  eventsKept: quota('The most webhook events kept'),
  webhooks: quota('The most webhooks'),
  agents: quota('The most agents'),
  connections: quota('The most connections'),
})

export const Pricing = Type.Object({
  plans: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      priceCents: Nullable(Type.Integer({ description: 'A month; null: made to measure' })),
      interval: Type.Literal('month'),
      includedCreditCents: Cents('Granted for each month that is paid'),
      custom: Type.Boolean(),
      quotas: PlanQuotas,
    }),
  ),
  platformFee: Type.Object({
    bps: Type.Integer({ description: 'Hundredths of a percent' }),
    waived: Type.Boolean({ description: 'For this org, as of now' }),
  }),
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      provider: Type.String(),
      free: Type.Boolean(),
      ...rates,
      withFee: Type.Object(rates, { description: 'As this org pays it now' }),
    }),
  ),
  services: Type.Array(Type.Object({ id: Type.String(), unit: Type.String(), priceMicrocents: Microcents })),
})

export const SpendingQuery = Type.Object({
  period: Type.Optional(
    Type.String({ description: 'today, week, month, year, all, 7d, 30d or 90d; anything else means month. In UTC.' }),
  ),
})

const span = { period: Type.String(), from: Timestamp, to: Timestamp }

const Item = Type.Object({
  id: Nullable(Type.String()),
  name: Type.String(),
  ...Usage,
  share: Type.Number({ description: 'Of what was charged in all, from 0 to 1' }),
})

export const Spending = Type.Object({
  ...span,
  summary: Type.Object(Usage),
  daily: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), ...Usage })),
  topAgents: Type.Array(Item),
  topModels: Type.Array(Item),
})

export const Breakdown = Type.Object({ ...span, items: Type.Array(Item) })

export const ProviderKey = Type.Object({
  id: Id,
  provider: Type.String(),
  label: Nullable(Type.String()),
  fingerprint: Type.String({ description: 'The beginning of a SHA-256, to tell keys apart' }),
  createdAt: Timestamp,
})

export const ProviderKeyCreate = Type.Object({
  provider: Type.Enum([...keyProviders]),
  key: Type.String({
    minLength: 16,
    maxLength: 500,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Printable ASCII without blanks, as a header has to be',
  }),
  label: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
})

export const Redeem = Type.Object({ code: Type.String({ minLength: 1, maxLength: 100 }) })

export const PaymentEventReceived = Type.Object({ received: Type.Literal(true) })
