import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, ok, Success } from '../../platform/http/schemas.ts'
import type { ProviderDeps } from '../deps.ts'
import { ConnectorEntry } from '../schemas.ts'
import { listConnectors } from './availability.ts'

export const registerCatalogRoutes = (app: App, deps: Pick<ProviderDeps, 'config'>): void => {
  const entries = listConnectors(deps)

  app.get(
    `${apiPrefix}/connectors`,
    {
      config: { access: 'connections:read' },
      schema: {
        tags: ['Connectors'],
        summary: 'List connectors',
        description:
          'Returns the catalog of connectors, and whether each is available on this server. The list has one page.',
        response: { 200: Success(CursorList(ConnectorEntry)) },
      },
    },
    () => ok({ items: entries, nextCursor: null }),
  )
}
