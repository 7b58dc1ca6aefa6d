import { readFileSync } from 'node:fs'
import { boolean, integer, Mistake, origin, text } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'
import { isQuotas } from './quotas.ts'
import type { QuotaLimits } from './quotas.ts'

export interface Plan {
  id: string
  name: string
  description: string
  /** Per month. Null: a custom plan. */
  priceCents: number | null
  /** Granted for each paid month. */
  includedCreditCents: number
  stripePriceId: string | null
  quotas: QuotaLimits
}

/** A plan before the server's defaults are added to its quotas. */
type ParsedPlan = Omit<Plan, 'quotas'> & { quotas: Partial<QuotaLimits> }

/** A plan in PLANS_FILE. Missing fields have defaults. */
type PlanEntry = Pick<Plan, 'id' | 'name' | 'priceCents'> & Partial<ParsedPlan>

const toPlan = (entry: PlanEntry): ParsedPlan => ({
  id: entry.id,
  name: entry.name,
  description: entry.description ?? '',
  priceCents: entry.priceCents,
  includedCreditCents: entry.includedCreditCents ?? 0,
  stripePriceId: entry.stripePriceId ?? null,
  quotas: entry.quotas ?? {},
})

/** A plan without quotas, such as `free`, has the server's quotas (`QUOTA_…`). */
const builtInPlans: ParsedPlan[] = [
  toPlan({ id: 'free', name: 'Free', description: 'Pay for what you use.', priceCents: 0 }),
  toPlan({
    id: 'pro',
    name: 'Pro',
    description: 'A monthly credit for one team.',
    priceCents: 2_000,
    includedCreditCents: 2_000,
    quotas: {
      storedBytes: 536_870_912_000,
      files: 10_000_000,
      eventsKept: 50_000_000,
      webhooks: 5_000,
      agents: 50_000,
      connections: 50_000,
    },
  }),
  toPlan({
    id: 'team',
    name: 'Team',
    description: 'A monthly credit for several teams.',
    priceCents: 9_900,
    includedCreditCents: 9_900,
    quotas: {
      storedBytes: 2_199_023_255_552,
      files: 50_000_000,
      eventsKept: 200_000_000,
      webhooks: 20_000,
      agents: 200_000,
      connections: 200_000,
    },
  }),
  toPlan({
    id: 'enterprise',
    name: 'Enterprise',
    description: 'Made to measure: talk to us.',
    priceCents: null,
    quotas: { storedBytes: null, files: null, eventsKept: null, webhooks: null, agents: null, connections: null },
  }),
]

const isText = (value: unknown, maxLength: number): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxLength
const isCents = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100_000_000

const rules: Record<keyof ParsedPlan, { isRight: (value: unknown) => boolean; mustBe: string; required?: true }> = {
  id: {
    isRight: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
    mustBe: 'a text of a-z, 0-9 and dashes, 1–63 characters',
    required: true,
  },
  name: { isRight: (value) => isText(value, 120), mustBe: 'a text of 1–120 characters', required: true },
  description: { isRight: (value) => isText(value, 1_000), mustBe: 'a text of 1–1000 characters' },
  priceCents: {
    isRight: (value) => value === null || isCents(value),
    mustBe: 'a whole number of cents from 0 to 100000000, or null for a custom plan',
    required: true,
  },
  includedCreditCents: { isRight: isCents, mustBe: 'a whole number of cents from 0 to 100000000' },
  stripePriceId: { isRight: (value) => isText(value, 255), mustBe: 'a price ID' },
  quotas: {
    isRight: isQuotas,
    mustBe:
      'an object of storedBytes, files, eventsKept, webhooks, agents and connections, each a whole number or null for unlimited',
  },
}

const errorOf = (entry: unknown): string | undefined => {
  if (typeof entry !== 'object' || entry === null) return ' is not an object'
  const given = entry as Record<string, unknown>
  for (const [name, { isRight, mustBe, required }] of Object.entries(rules)) {
    if (given[name] === undefined ? required : !isRight(given[name])) return `: ${name} must be ${mustBe}`
  }
  return undefined
}

const readPlans: Parse<ParsedPlan[]> = (path) => {
  let read: unknown
  try {
    read = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return new Mistake(`must name a readable JSON file (${(error as Error).message})`)
  }
  if (!Array.isArray(read)) return new Mistake('must name a file with a JSON array of plans')
  for (const [index, entry] of read.entries()) {
    const error = errorOf(entry)
    if (error !== undefined) return new Mistake(`must name a file of plans; plan ${index + 1}${error}`)
  }
  const plans = (read as PlanEntry[]).map(toPlan)
  if (new Set(plans.map(({ id }) => id)).size !== plans.length)
    return new Mistake('names a file with two plans with the same id')
  return plans
}

/** The longest text of the seller's details. They are printed on a page. */
const maxSellerText = 300

const printedText: Parse<string> = (value) =>
  value.length <= maxSellerText ? value : new Mistake(`must be at most ${maxSellerText} characters`)

/** Billing and payments. */
export const billingVariables = {
  BILLING_ENFORCED: {
    description:
      'Reject turns on paid models when the balance of the org is used up. Unset: `1` in production, otherwise `0`.',
    fallback: '',
    parse: boolean,
  },
  PLATFORM_FEE_BPS: {
    description: "Platform fee on top of the model provider's price, in basis points (hundredths of a percent).",
    fallback: '500',
    parse: integer(0, 10_000),
  },
  PLATFORM_FEE_WAIVER_CENTS: {
    description: 'An org pays no platform fee until the sum of its deposits exceeds this amount.',
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
  },
  STRIPE_SECRET_KEY: {
    description: 'Secret key of a Stripe account. Unset: card payments are not available.',
    fallback: '',
    parse: text,
    secret: true,
  },
  STRIPE_WEBHOOK_SECRET: {
    description: 'Signing secret (`whsec_…`) of the Stripe endpoint with the URL `/api/v1/billing/webhooks/stripe`.',
    fallback: '',
    parse: text,
    secret: true,
  },
  STRIPE_PUBLISHABLE_KEY: { description: 'Publishable key of the Stripe account.', fallback: '', parse: text },
  STRIPE_API_BASE: {
    description: 'Origin of the Stripe API, without `/v1`, for tests with a fake server.',
    fallback: '',
    parse: origin,
  },
  ALLOW_DIRECT_DEPOSITS: {
    description:
      'Outside of production: allow deposits with `method: "direct"`, which need no payment, although Stripe is configured.',
    fallback: '0',
    parse: boolean,
  },
  PLANS_FILE: {
    description:
      'JSON file with the monthly plans, which replace the built-in plans `free`, `pro`, `team` and `enterprise`.',
    fallback: '',
    parse: readPlans,
  },
  BILLING_SELLER_NAME: {
    description: 'Name of the company that receives the payments, for receipts and statements. Unset: they name none.',
    fallback: '',
    parse: printedText,
  },
  BILLING_SELLER_ADDRESS: {
    description: 'Its postal address, at most 6 lines separated by semicolons.',
    fallback: '',
    parse: printedText,
  },
  BILLING_SELLER_TAX_ID: { description: 'Its tax number.', fallback: '', parse: printedText },
  BILLING_SELLER_EMAIL: { description: 'Its email address for questions.', fallback: '', parse: printedText },
  SERVICE_BYOK_ENABLED: {
    description: 'Allow orgs to store their own API keys for model providers.',
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
  /** Who receives the payments. Null: receipts name nobody. */
  seller: Seller | null
}

/** Printed on receipts and statements. */
export interface Seller {
  name: string
  /** Lines separated by `\n`. */
  address: string | null
  taxId: string | null
  email: string | null
}

/** The platform fee, and the sum of deposits up to which it is waived. */
export interface FeeRule {
  bps: number
  waiverCents: number
}

const sellerOf = (parsed: ParsedOf<typeof billingVariables>): Seller | null =>
  parsed.BILLING_SELLER_NAME === undefined
    ? null
    : {
        name: parsed.BILLING_SELLER_NAME,
        address: parsed.BILLING_SELLER_ADDRESS?.replaceAll(/\s*;\s*/g, '\n') ?? null,
        taxId: parsed.BILLING_SELLER_TAX_ID ?? null,
        email: parsed.BILLING_SELLER_EMAIL ?? null,
      }

export const billingConfigOf = (
  parsed: ParsedOf<typeof billingVariables>,
  isProduction: boolean,
  defaultQuotas: QuotaLimits,
): BillingConfig => ({
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
  plans: (parsed.PLANS_FILE ?? builtInPlans).map((plan) => ({ ...plan, quotas: { ...defaultQuotas, ...plan.quotas } })),
  takesProviderKeys: parsed.SERVICE_BYOK_ENABLED,
  seller: sellerOf(parsed),
})
