import type { Deps } from './deps.ts'
import { registerAgentRoutes } from './agents/routes.ts'
import { registerFileRoutes } from './files/routes.ts'
import { registerAuthentication } from './identity/authentication.ts'
import { createIdentity } from './identity/identity.ts'
import { registerIdentityRoutes } from './identity/routes.ts'
import { sql } from './platform/database.ts'
import { registerHealth } from './platform/health.ts'
import { createHttp } from './platform/http.ts'
import type { App } from './platform/http.ts'
import type { Jobs } from './platform/jobs.ts'
import { registerIdempotency } from './platform/idempotency.ts'
import { registerMetrics } from './platform/metrics.ts'
import { openRateLimiter } from './platform/rate-limit.ts'
import { registerRouteLimits } from './platform/route-limits.ts'
import { registerWelcome } from './welcome/routes.ts'

// Far beyond the longest backlog that workers catch up with; an API that nobody works for is of no use to callers.
const workersLateSeconds = 300

const checkWorkers = async (jobs: Jobs): Promise<void> => {
  const { oldestSeconds } = await jobs.lag()
  if (oldestSeconds > workersLateSeconds) throw new Error(`a job has waited for a worker for ${oldestSeconds} s`)
}

/** The HTTP server with every route, not yet listening. */
export const buildServer = async (deps: Deps): Promise<App> => {
  const { config, db, jobs, log, objects } = deps
  const app = createHttp({
    log,
    production: config.environment === 'production',
    trustProxy: config.trustProxy,
    baseUrl: config.baseUrl,
  })
  registerMetrics(app, {
    token: config.metricsToken,
    gauges: [
      {
        name: 'database_pool_connections',
        help: 'Connections of the database pool by state, and statements that wait for one.',
        label: 'state',
        read: () => new Map(Object.entries(db.poolUse())),
      },
      {
        name: 'jobs',
        help: 'Jobs that wait for a worker, wait for their time, run, or were given up within 14 days.',
        label: 'state',
        read: async () => {
          const { queued, deferred, active, failed } = await jobs.lag()
          return new Map(Object.entries({ queued, deferred, active, failed }))
        },
      },
      {
        name: 'jobs_oldest_waiting_seconds',
        help: 'How long ago the job that has waited longest for a worker should have started.',
        read: async () => (await jobs.lag()).oldestSeconds,
      },
    ],
  })
  const identity = createIdentity(deps)
  const limiter = await openRateLimiter({ rateLimits: config.rateLimits, redisUrl: config.redisUrl, log })
  app.addHook('onClose', () => limiter.close())
  registerAuthentication(app, identity)
  registerRouteLimits(app, { limiter, callerOf: ({ actor }) => actor?.apiKey?.id ?? actor?.userId })
  registerIdempotency(app, { db, log, callerOf: ({ actor }) => actor })
  registerHealth(app, {
    checks: [
      { name: 'database', check: () => db.hot.row(sql`select 1`) },
      { name: 'object store', check: () => objects.check() },
      { name: 'workers', check: () => checkWorkers(jobs) },
    ],
  })
  registerIdentityRoutes(app, { ...deps, library: identity.library })
  registerFileRoutes(app, { ...deps, signingKeys: deps.secrets.deriveKeys('signed URLs') })
  registerAgentRoutes(app, deps)
  await registerWelcome(app)
  await app.ready()
  return app
}
