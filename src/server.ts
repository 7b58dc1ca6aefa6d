import type { Config } from './config.ts'
import { registerAuthentication } from './identity/authentication.ts'
import { createAuthority } from './identity/authority.ts'
import { registerIdentityRoutes } from './identity/routes.ts'
import type { Database } from './platform/database.ts'
import { createHttp } from './platform/http.ts'
import type { App } from './platform/http.ts'
import type { Log } from './platform/log.ts'

/** All that the routes need from outside. Built once in main.ts, and by the tests' harness. */
export interface Deps {
  config: Config
  db: Database
  log: Log
}

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
