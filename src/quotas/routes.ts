import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { ok, Success } from '../platform/http/schemas.ts'
import type { Quotas } from './quotas.ts'
import { QuotaList } from './schemas.ts'

export const registerQuotaRoutes = (app: App, { quotas }: { quotas: Quotas }): void => {
  // After the transaction has been rolled back, so that the record of the rejection is kept.
  app.addHook('onError', (_request, _reply, error) => quotas.recordRejection(error))

  app.get(
    `${apiPrefix}/quotas`,
    {
      config: { access: 'member' },
      schema: {
        tags: ['Quotas'],
        summary: 'List quotas',
        description:
          'Returns the quotas of the org and their usage. A request that would exceed a quota is rejected: with PAYMENT_REQUIRED when the server offers a plan with a larger quota, otherwise with FORBIDDEN.',
        response: { 200: Success(QuotaList) },
      },
    },
    async ({ actor }) => ok({ items: await quotas.list(actor.orgId) }),
  )
}
