import { Type } from 'typebox'
import { Nullable, TimestampOf } from '../../platform/http/schemas.ts'

export const Cents = (description: string, example = 0) =>
  Type.Integer({ description: `${description}, in cents.`, examples: [example] })
export const Microcents = (description: string, example = 0) =>
  Type.Integer({ description: `${description}, in microcents (10,000 are one cent).`, examples: [example] })
export const Count = (description: string, example = 0) => Type.Integer({ description, examples: [example] })

export const Usage = {
  requestCount: Count('Number of model calls, including free ones.', 42),
  byokRequestCount: Count("Number of model calls with the org's own provider key."),
  inputTokens: Count('Input tokens, including cached ones.', 812_345),
  outputTokens: Count('Output tokens.', 51_000),
  cacheReadTokens: Count('Tokens read from the cache.'),
  cacheWriteTokens: Count('Tokens written to the cache.'),
  totalTokens: Count('Input and output tokens together.', 863_345),
  providerCostMicrocents: Microcents('Cost of the model calls at the provider', 3_202_035),
  platformFeeMicrocents: Microcents('Platform fee', 160_102),
  totalChargedMicrocents: Microcents('Total charged to the org', 3_362_137),
  totalChargedCents: Cents('Total charged to the org, rounded down', 336),
}

export const SpendingQuery = Type.Object({
  period: Type.Optional(
    Type.String({
      description:
        'Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`.',
    }),
  ),
})

const span = {
  period: Type.String({ description: 'Period that the figures are for.', examples: ['month'] }),
  from: TimestampOf('Start of the period, inclusive.', '2026-11-01T00:00:00.000Z'),
  to: TimestampOf('End of the period: the time of the request.', '2026-11-21T14:02:11.480Z'),
}

const Item = (of: string, id: string, name: string) =>
  Type.Object(
    {
      id: Nullable(
        Type.String({ description: `ID of the ${of}. Null for usage that cannot be attributed.`, examples: [id] }),
      ),
      name: Type.String({ description: `Name of the ${of}.`, examples: [name] }),
      ...Usage,
      share: Type.Number({ description: 'Share of the total charged, 0–1.', examples: [1] }),
    },
    { description: `Usage of one ${of}.` },
  )

const model = 'anthropic/claude-sonnet-4-5'

const date = (description: string, example: string) => Type.String({ format: 'date', description, examples: [example] })
const charges = (description: string, examples: number[]) =>
  Type.Array(Type.Integer(), {
    description: `${description}, in microcents (10,000 are one cent).`,
    examples: [examples],
  })

const Chart = Type.Object(
  {
    grain: Type.Enum(['day', 'month'], {
      description: 'Length of the intervals: `month` for the periods `year` and `all`, else `day`.',
    }),
    dates: Type.Array(date('Date.', '2026-11-20'), {
      description: 'First day of each interval in UTC, oldest first.',
      examples: [['2026-11-20', '2026-11-21']],
    }),
    models: Type.Array(
      Type.Object({
        id: Nullable(Type.String({ description: 'ID of the model. Null for all other models.', examples: [model] })),
        name: Type.String({ description: 'Name of the model.', examples: ['Claude Sonnet 4.5'] }),
        chargedMicrocents: charges('Charged in each interval of `dates`', [3_202_035, 160_102]),
      }),
      {
        description:
          'The six models with the highest charges, highest first, and all others as one item. Models without charges are not included.',
      },
    ),
    previous: Nullable(
      Type.Object({
        from: date('First day in UTC.', '2026-10-20'),
        to: date('Last day in UTC.', '2026-10-21'),
        totalChargedMicrocents: Microcents('Charged in total', 3_000_000),
        chargedMicrocents: charges(
          'Charged in each interval. Can be shorter than `dates`, when the month before is shorter',
          [2_000_000, 1_000_000],
        ),
      }),
      'The period before, up to the same point: on March 10, `month` is compared with February 1 to 10. Null for `all`.',
    ),
  },
  { description: 'Charges over time by model, compared with the period before.' },
)

export const Spending = Type.Object(
  {
    ...span,
    summary: Type.Object(Usage, { description: 'Usage of the whole period.' }),
    daily: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', description: 'Day in UTC.', examples: ['2026-11-21'] }),
        ...Usage,
      }),
      { description: 'Usage by day, oldest first.' },
    ),
    topAgents: Type.Array(Item('agent', '01a1fc7d-d4f0-7bc5-aa29-de06b510f9aa', 'Release notes'), {
      description: 'Agents with the highest charges.',
    }),
    topModels: Type.Array(Item('model', model, 'Claude Sonnet 4.5'), {
      description: 'Models with the highest charges.',
    }),
    chart: Chart,
  },
  { description: 'Spending in a period.' },
)

export const Breakdown = Type.Object(
  {
    ...span,
    items: Type.Array(Item('agent, model or project', model, 'Claude Sonnet 4.5'), {
      description: 'Usage by agent, model or project, highest charge first.',
    }),
  },
  { description: 'Spending in a period by agent, model or project.' },
)
