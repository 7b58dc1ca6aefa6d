import { readFileSync } from 'node:fs'
import { boolean, integer, Mistake, origin, text } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'
import { isQuotas } from './quotas.ts'
import type { QuotaLimits } from './quotas.ts'

export interface Plan {
  id: string
  name: string
  description: string
  /** A month. Null: a custom plan, agreed with people. */
  priceCents: number | null
  /** Granted for each month that is paid. */
  includedCreditCents: number
  stripePriceId: string | null
  quotas: QuotaLimits
}

/** A plan whose quotas are not filled up from the server's defaults yet. */
type ParsedPlan = Omit<Plan, 'quotas'> & { quotas: Partial<QuotaLimits> }

/** A plan as the file has it; the rest has defaults. */
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

/** Without quotas of its own, as the built-in `free` plan, a plan has those of the server (`QUOTA_…`). */
const usualPlans: ParsedPlan[] = [
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

const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= most
const isCents = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100_000_000

const rules: Record<keyof ParsedPlan, { isRight: (value: unknown) => boolean; mustBe: string; required?: true }> = {
  id: {
    isRight: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
    mustBe: 'of a-z, 0-9 and dashes',
    required: true,
  },
  name: { isRight: (value) => isText(value, 120), mustBe: 'a text of 1 to 120 characters', required: true },
  description: { isRight: (value) => isText(value, 1_000), mustBe: 'a text of 1 to 1000 characters' },
  priceCents: {
    isRight: (value) => value === null || isCents(value),
    mustBe: 'whole cents from 0 to 100000000, or null for a custom plan',
    required: true,
  },
  includedCreditCents: { isRight: isCents, mustBe: 'whole cents from 0 to 100000000' },
  stripePriceId: { isRight: (value) => isText(value, 255), mustBe: 'the id of a price' },
  quotas: {
    isRight: isQuotas,
    mustBe:
      'an object of storedBytes, files, eventsKept, webhooks, agents and connections, each a whole number or null for unlimited',
  },
}

const faultOf = (entry: unknown): string | undefined => {
  if (typeof entry !== 'object' || entry === null) return ' is no object'
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
    return new Mistake(`must name a file of JSON that can be read (${(error as Error).message})`)
  }
  if (!Array.isArray(read)) return new Mistake('must name a file with a list of plans')
  for (const [place, entry] of read.entries()) {
    const fault = faultOf(entry)
    if (fault !== undefined) return new Mistake(`must name a file of plans; its plan ${place + 1}${fault}`)
  }
  const plans = (read as PlanEntry[]).map(toPlan)
  if (new Set(plans.map(({ id }) => id)).size !== plans.length)
    return new Mistake('names a file with two plans of one id')
  return plans
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
  plans: (parsed.PLANS_FILE ?? usualPlans).map((plan) => ({ ...plan, quotas: { ...defaultQuotas, ...plan.quotas } })),
  takesProviderKeys: parsed.SERVICE_BYOK_ENABLED,
})
