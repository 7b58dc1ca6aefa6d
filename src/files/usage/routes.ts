import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { Usage, UsageQuery } from './schemas.ts'
import { readUsage } from './usage.ts'

export const registerUsageRoutes = (app: App, { db, quotas }: FilesDeps): void => {
  app.get(
    `${apiPrefix}/files/usage`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Retrieve the storage of a folder',
        description:
          'Returns what is stored in a folder or in the root of the org, by its subfolders, those with the most bytes first. Sizes are those that the quotas count: pending files have their declared size, and files with the same bytes count each. Folders that the caller may not see are left out, so that the sum can be lower than the quota. BAD_REQUEST for a folder that does not exist, SERVICE_UNAVAILABLE with `Retry-After` when too many of these requests and searches wait.',
        querystring: UsageQuery,
        response: { 200: Success(Usage) },
      },
    },
    async ({ actor, query }) => ok(await readUsage({ db: db.replica, quotas }, actor, query)),
  )
}
