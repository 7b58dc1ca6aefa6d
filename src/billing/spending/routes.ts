import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { ok, Success } from '../../platform/http/schemas.ts'
import { Breakdown, Spending, SpendingQuery } from './schemas.ts'
import { getBreakdown, getSpending } from './spending.ts'
import type { ModelNames } from './spending.ts'

const tags = ['Billing']

const axes = [
  ['model', 'List spending by model', 'Returns the usage and charges of a period by model.'],
  [
    'agent',
    'List spending by agent',
    'Returns the usage and charges of a period by agent. Agents of workspaces that the caller has no access to are combined into one item without an ID.',
  ],
  [
    'project',
    'List spending by project',
    'Returns the usage and charges of a period by project. Usage without a project is an item without an ID.',
  ],
] as const

export const registerSpendingRoutes = (
  app: App,
  { db, jobs, models }: { db: Database; jobs: Jobs; models: ModelNames },
): void => {
  const deps = { db, jobs, models }

  app.get(
    `${apiPrefix}/billing/spending`,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'Retrieve spending',
        description:
          'Returns the usage and charges of a period: in total, by day, and for the agents and models with the highest charges.',
        querystring: SpendingQuery,
        response: { 200: Success(Spending) },
      },
    },
    async ({ actor, query }) => ok(await getSpending(deps, actor, query.period)),
  )

  for (const [axis, summary, description] of axes) {
    app.get(
      `${apiPrefix}/billing/spending/by-${axis}`,
      {
        config: { access: 'billing:read' },
        schema: { tags, summary, description, querystring: SpendingQuery, response: { 200: Success(Breakdown) } },
      },
      async ({ actor, query }) => ok(await getBreakdown(deps, actor, { axis, period: query.period })),
    )
  }
}
