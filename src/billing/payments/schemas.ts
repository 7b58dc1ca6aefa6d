import { Type } from 'typebox'
import { Nullable, TimestampOf } from '../../platform/http/schemas.ts'

export const DepositCreate = Type.Object(
  {
    amountCents: Type.Integer({
      minimum: 100,
      maximum: 100_000,
      description: 'Amount in cents, 100–100,000.',
      examples: [2_500],
    }),
    method: Type.Optional(
      Type.Literal('direct', {
        description:
          'Deposit without a payment. Works only outside production, without Stripe or with `ALLOW_DIRECT_DEPOSITS=1`. Default: a payment page, if Stripe is set up.',
      }),
    ),
  },
  { examples: [{ amountCents: 2_500 }] },
)

const checkoutUrl = Type.String({
  description: 'URL of the payment page. Open it in a browser.',
  examples: ['https://checkout.stripe.com/c/pay/cs_live_a1B2c3'],
})
const sessionId = Type.String({ description: 'ID of the checkout session at Stripe.', examples: ['cs_live_a1B2c3'] })

export const DepositStarted = Type.Object(
  {
    checkoutUrl: Type.Optional(checkoutUrl),
    sessionId: Type.Optional(sessionId),
    deposited: Type.Optional(
      Type.Integer({
        description: 'Amount of a direct deposit, in cents. Absent with a payment page.',
        examples: [2_500],
      }),
    ),
    method: Type.Optional(Type.Literal('direct', { description: 'Present for a direct deposit only.' })),
    message: Type.Optional(
      Type.String({
        description: 'Explanation of a direct deposit.',
        examples: ['Deposited without a payment, as this server is not in production.'],
      }),
    ),
  },
  {
    description: 'The payment page, or the result of a direct deposit.',
    examples: [{ checkoutUrl: 'https://checkout.stripe.com/c/pay/cs_live_a1B2c3', sessionId: 'cs_live_a1B2c3' }],
  },
)

const planId = { description: 'ID of a monthly plan from `GET /billing/pricing`.', examples: ['pro'] }

export const SubscriptionCreate = Type.Object({
  planId: Type.String({
    minLength: 1,
    maxLength: 63,
    ...planId,
    description: `${planId.description} At most 63 characters.`,
  }),
})

export const SubscriptionStarted = Type.Object(
  { checkoutUrl, sessionId, planId: Type.String(planId) },
  { description: 'The payment page of the plan.' },
)

export const SubscriptionEnded = Type.Object(
  {
    planId: Type.String(planId),
    cancelAtPeriodEnd: Type.Literal(true, { description: 'Always true: the plan ends with the paid month.' }),
    currentPeriodEnd: Nullable(TimestampOf('End of the paid month.', '2026-12-20T08:15:30.000Z')),
  },
  { description: 'The cancelled plan.' },
)

export const PaymentEventReceived = Type.Object(
  { received: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the event is processed or ignored.' },
)
