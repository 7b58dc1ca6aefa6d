import type { App } from '../platform/http/http.ts'
import { registerCatalogRoutes } from './catalog/routes.ts'
import { registerConnectionRoutes } from './connections/routes.ts'
import { registerConnectionToolRoutes } from './connections/tool-routes.ts'
import type { ConnectorRouteDeps } from './deps.ts'
import { registerLinearBindingRoutes } from './endpoints/linear-binding-routes.ts'
import { registerCallbackRoutes } from './oauth/callback-routes.ts'
import { registerOAuthRoutes } from './oauth/routes.ts'

export const registerConnectorRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  registerCatalogRoutes(app, deps)
  registerConnectionRoutes(app, deps)
  registerConnectionToolRoutes(app, deps)
  registerCallbackRoutes(app, deps)
  registerOAuthRoutes(app, deps)
  registerLinearBindingRoutes(app, deps)
}
