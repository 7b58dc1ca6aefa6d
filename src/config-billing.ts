import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { boolean, integer, Mistake, origin, text } from './config-values.ts'
import type { Parse, Variable } from './config-values.ts'

const Cents = Type.Integer({ minimum: 0, maximum: 100_000_000 })

const PlanEntry = Type.Object({
  id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
  name: Type.String({ minLength: 1, maxLength: 120 }),
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
  /** A month; null: a custom plan, agreed with people. */
  priceCents: Type.Union([Cents, Type.Null()]),
  includedCreditCents: Type.Optional(Cents),
  /** The provider's own price, in place of one made on the fly. */
  stripePriceId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
})

export interface Plan {
  id: string
  name: string
  description: string
  /** A month. Null: a custom plan, agreed with people. */
  priceCents: number | null
  /** Granted for each month that is paid. */
  includedCreditCents: number
  stripePriceId: string | null
}

const toPlan = (entry: Static<typeof PlanEntry>): Plan => ({
  id: entry.id,
  name: entry.name,
  description: entry.description ?? '',
  priceCents: entry.priceCents,
  includedCreditCents: entry.includedCreditCents ?? 0,
  stripePriceId: entry.stripePriceId ?? null,
})

const usualPlans: Plan[] = [
  toPlan({ id: 'free', name: 'Free', description: 'Pay for what you use.', priceCents: 0 }),
  toPlan({
    id: 'pro',
    name: 'Pro',
    description: 'A monthly credit for one team.',
    priceCents: 2_000,
    includedCreditCents: 2_000,
  }),
  toPlan({
    id: 'team',
    name: 'Team',
    description: 'A monthly credit for several teams.',
    priceCents: 9_900,
    includedCreditCents: 9_900,
  }),
  toPlan({ id: 'enterprise', name: 'Enterprise', description: 'Made to measure: talk to us.', priceCents: null }),
]

const readPlans: Parse<Plan[]> = (path) => {
  let read: unknown
  try {
    read = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return new Mistake(`must name a file of JSON that can be read (${(error as Error).message})`)
  }
  const schema = Type.Array(PlanEntry)
  if (!Value.Check(schema, read)) {
    const [first] = Value.Errors(schema, read)
    return new Mistake(`must hold a list of plans (${first?.instancePath || '/'} ${first?.message ?? ''})`)
  }
  if (new Set(read.map(({ id }) => id)).size !== read.length) return new Mistake('names a plan twice')
  return read.map(toPlan)
}

/** What concerns money. */
export const billingVariables = {
  BILLING_ENFORCED: {
    description:
      'Refuse turns on paid models when the balance of the org is used up. Unset: `1` in production, else `0`.',
    fallback: '',
    parse: boolean,
  },
  PLATFORM_FEE_BPS: {
    description: "What the platform adds to the model provider's price, in hundredths of a percent.",
    fallback: '500',
    parse: integer(0, 10_000),
  },
  PLATFORM_FEE_WAIVER_CENTS: {
    description: "No platform fee as long as an org's deposits, all in all, are not more than this.",
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
  },
  STRIPE_SECRET_KEY: {
    description: 'Secret key of a Stripe account. Unset: nobody can pay by card.',
    fallback: '',
    parse: text,
    secret: true,
  },
  STRIPE_WEBHOOK_SECRET: {
    description: 'Signing secret of the Stripe endpoint that points at `/api/v1/billing/webhooks/stripe` (`whsec_…`).',
    fallback: '',
    parse: text,
    secret: true,
  },
  STRIPE_PUBLISHABLE_KEY: { description: 'Publishable key of the Stripe account.', fallback: '', parse: text },
  STRIPE_API_BASE: {
    description: 'Origin of the Stripe API, without `/v1`; for tests against a stand-in.',
    fallback: '',
    parse: origin,
  },
  ALLOW_DIRECT_DEPOSITS: {
    description: 'Outside production: let `method: "direct"` deposit without a payment although Stripe is configured.',
    fallback: '0',
    parse: boolean,
  },
  PLANS_FILE: {
    description: 'JSON file with the monthly plans, in place of the built-in `free`, `pro`, `team` and `enterprise`.',
    fallback: '',
    parse: readPlans,
  },
  SERVICE_BYOK_ENABLED: {
    description: 'Let orgs store API keys of their own for model providers.',
    fallback: '0',
    parse: boolean,
  },
} as const satisfies Record<string, Variable>

export interface BillingConfig {
  isEnforced: boolean
  fee: FeeRule
  stripe: { secretKey: string; apiBase: string | undefined } | undefined
  stripeWebhookSecret: string | undefined
  hasPublishableKey: boolean
  allowsDirectDeposits: boolean
  isProduction: boolean
  plans: readonly Plan[]
  takesProviderKeys: boolean
}

/** What the platform adds to a provider's price, and up to which sum of deposits it does not. */
export interface FeeRule {
  bps: number
  waiverCents: number
}

interface Parsed {
  BILLING_ENFORCED: boolean | undefined
  PLATFORM_FEE_BPS: number
  PLATFORM_FEE_WAIVER_CENTS: number
  STRIPE_SECRET_KEY: string | undefined
  STRIPE_WEBHOOK_SECRET: string | undefined
  STRIPE_PUBLISHABLE_KEY: string | undefined
  STRIPE_API_BASE: string | undefined
  ALLOW_DIRECT_DEPOSITS: boolean
  PLANS_FILE: Plan[] | undefined
  SERVICE_BYOK_ENABLED: boolean
}

export const billingConfigOf = (parsed: Parsed, isProduction: boolean): BillingConfig => ({
  isEnforced: parsed.BILLING_ENFORCED ?? isProduction,
  fee: { bps: parsed.PLATFORM_FEE_BPS, waiverCents: parsed.PLATFORM_FEE_WAIVER_CENTS },
  stripe:
    parsed.STRIPE_SECRET_KEY === undefined
      ? undefined
      : { secretKey: parsed.STRIPE_SECRET_KEY, apiBase: parsed.STRIPE_API_BASE },
  stripeWebhookSecret: parsed.STRIPE_WEBHOOK_SECRET,
  hasPublishableKey: parsed.STRIPE_PUBLISHABLE_KEY !== undefined,
  allowsDirectDeposits: parsed.ALLOW_DIRECT_DEPOSITS,
  isProduction,
  plans: parsed.PLANS_FILE ?? usualPlans,
  takesProviderKeys: parsed.SERVICE_BYOK_ENABLED,
})
