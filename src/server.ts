import type { Deps } from './deps.ts'
import { registerAuthentication } from './identity/authentication.ts'
import { createAuthority } from './identity/authority.ts'
import { registerIdentityRoutes } from './identity/routes.ts'
import { createHttp } from './platform/http.ts'
import type { App } from './platform/http.ts'

/** The HTTP server with every route, not yet listening. */
export const buildServer = async (deps: Deps): Promise<App> => {
  const { config, db, log } = deps
  const app = createHttp({ log, production: config.environment === 'production', trustProxy: config.trustProxy })
  const authority = createAuthority(db, {
    keyEnvironment: config.keyEnvironment,
    onError: (error) => log.warn({ err: error }, 'last use of an API key not recorded'),
  })
  registerAuthentication(app, authority)
  registerIdentityRoutes(app, deps)
  await app.ready()
  return app
}
