import { Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { Cents, Microcents } from '../spending/schemas.ts'

const Rate = (of: string, example: number) =>
  Type.Integer({ description: `Price of ${of}, in microcents for a million tokens.`, examples: [example] })
const rates = {
  inputMicrocents: Rate('input tokens', 3_000_000),
  outputMicrocents: Rate('output tokens', 15_000_000),
  cacheReadMicrocents: Rate('tokens read from the cache', 300_000),
  cacheWriteMicrocents: Rate('tokens written to the cache', 3_750_000),
}
const ratesWithFee = {
  inputMicrocents: Rate('input tokens', 3_150_000),
  outputMicrocents: Rate('output tokens', 15_750_000),
  cacheReadMicrocents: Rate('tokens read from the cache', 315_000),
  cacheWriteMicrocents: Rate('tokens written to the cache', 3_937_500),
}

const quota = (description: string, example: number) =>
  Nullable(Type.Integer({ description: `${description} Null: unlimited.`, examples: [example] }))

const PlanQuotas = Type.Object(
  {
    storedBytes: quota('Maximum size of all files together, in bytes.', 536_870_912_000),
    files: quota('Maximum number of files, folders and links.', 10_000_000),
    eventsKept: quota('Maximum number of stored webhook events.', 50_000_000),
    webhooks: quota('Maximum number of webhooks.', 5_000),
    agents: quota('Maximum number of agents.', 50_000),
    connections: quota('Maximum number of connections.', 50_000),
  },
  { description: 'Quotas of an org on the plan.' },
)

export const Pricing = Type.Object(
  {
    plans: Type.Array(
      Type.Object({
        id: Type.String({ description: 'ID of the plan.', examples: ['pro'] }),
        name: Type.String({ description: 'Name of the plan.', examples: ['Pro'] }),
        description: Type.String({ description: 'Who the plan is for.', examples: ['For growing teams'] }),
        priceCents: Nullable(
          Type.Integer({ description: 'Price of a month, in cents. Null: on request.', examples: [2_000] }),
        ),
        interval: Type.Literal('month', { description: 'Billing interval.' }),
        includedCreditCents: Cents('Credit that each paid month grants', 2_000),
        custom: Type.Boolean({ description: 'Whether the plan is sold on request only.' }),
        quotas: PlanQuotas,
      }),
      { description: 'Plans that the server offers.' },
    ),
    platformFee: Type.Object(
      {
        bps: Type.Integer({ description: 'Rate in basis points: 100 are 1 %.', examples: [500] }),
        waived: Type.Boolean({ description: 'Whether the fee is waived for the org now.' }),
      },
      { description: 'Fee on the cost of model calls.' },
    ),
    models: Type.Array(
      Type.Object({
        id: Type.String({ description: 'ID of the model.', examples: ['anthropic/claude-sonnet-4-5'] }),
        name: Type.String({ description: 'Display name.', examples: ['Claude Sonnet 4.5'] }),
        provider: Type.String({ description: 'Name of the provider.', examples: ['anthropic'] }),
        free: Type.Boolean({ description: 'Whether the model costs nothing.' }),
        ...rates,
        withFee: Type.Object(ratesWithFee, {
          description: 'Prices that the org pays now, including the platform fee.',
        }),
      }),
      { description: 'Prices of the models.' },
    ),
    services: Type.Array(
      Type.Object({
        id: Type.String({ description: 'ID of the service.', examples: ['files.storage'] }),
        unit: Type.String({ description: 'Unit that is billed.', examples: ['GB a month'] }),
        priceMicrocents: Microcents('Price of a unit'),
      }),
      { description: 'Prices of other services.' },
    ),
  },
  { description: 'Plans and prices.' },
)
