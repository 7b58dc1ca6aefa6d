import { randomBytes } from 'node:crypto'
import type { Deps } from './deps.ts'
import { registerFileRoutes } from './files/routes.ts'
import { registerAuthentication } from './identity/authentication.ts'
import { createIdentity } from './identity/identity.ts'
import { registerIdentityRoutes } from './identity/routes.ts'
import { createHttp } from './platform/http.ts'
import type { App } from './platform/http.ts'
import { openRateLimiter } from './platform/rate-limit.ts'
import { registerRouteLimits } from './platform/route-limits.ts'

/** The HTTP server with every route, not yet listening. */
export const buildServer = async (deps: Deps): Promise<App> => {
  const { config, log } = deps
  const app = createHttp({ log, production: config.environment === 'production', trustProxy: config.trustProxy })
  const identity = createIdentity(deps)
  const limiter = await openRateLimiter({ rateLimits: config.rateLimits, redisUrl: config.redisUrl, log })
  app.addHook('onClose', () => limiter.close())
  registerAuthentication(app, identity)
  registerRouteLimits(app, { limiter, callerOf: ({ actor }) => actor?.apiKey?.id ?? actor?.userId })
  registerIdentityRoutes(app, { ...deps, library: identity.library })
  const signingKeys = config.encryptionKeys ?? [{ id: 'process', key: randomBytes(32) }]
  registerFileRoutes(app, { ...deps, signingKeys, releaseLater: async () => undefined })
  await app.ready()
  return app
}
