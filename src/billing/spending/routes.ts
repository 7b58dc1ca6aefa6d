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
  ['model', 'Spending by model'],
  ['agent', 'Spending by agent'],
  ['project', 'Spending by project'],
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
        summary: 'Spending of a period: in all, day by day, largest agents and models',
        querystring: SpendingQuery,
        response: { 200: Success(Spending) },
      },
    },
    async ({ actor, query }) => ok(await getSpending(deps, actor, query.period)),
  )

  for (const [axis, summary] of axes) {
    app.get(
      `${apiPrefix}/billing/spending/by-${axis}`,
      {
        config: { access: 'billing:read' },
        schema: { tags, summary, querystring: SpendingQuery, response: { 200: Success(Breakdown) } },
      },
      async ({ actor, query }) => ok(await getBreakdown(deps, actor, axis, query.period)),
    )
  }
}
