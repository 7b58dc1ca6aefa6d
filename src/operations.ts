import type { Deps } from './deps.ts'
import { sql } from './platform/database.ts'
import { registerHealth } from './platform/health.ts'
import type { App } from './platform/http.ts'
import type { Jobs } from './platform/jobs.ts'
import { registerMetrics } from './platform/metrics.ts'
import type { GaugeSource } from './platform/metrics.ts'
import { findDeliveryBacklog } from './webhooks/webhooks.ts'

// Far beyond the longest backlog that workers catch up with; an API that nobody works for is of no use to callers.
const workersLateSeconds = 300

const checkWorkers = async (jobs: Jobs): Promise<void> => {
  const { oldestSeconds } = await jobs.lag()
  if (oldestSeconds > workersLateSeconds) throw new Error(`a job has waited for a worker for ${oldestSeconds} s`)
}

const gaugesOf = ({ db, jobs }: Deps): GaugeSource[] => [
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
  {
    name: 'webhook_deliveries_due',
    help: 'Forwarded events that should be under way by now.',
    read: async () => (await findDeliveryBacklog(db)).due,
  },
  {
    name: 'webhook_delivery_oldest_due_seconds',
    help: 'How long ago the delivery that has waited longest should have begun.',
    read: async () => (await findDeliveryBacklog(db)).oldestSeconds,
  },
]

const intakeGaugesOf = ({ bodyIntake, connections }: App): GaugeSource[] => [
  { name: 'http_connections', help: 'Open client connections.', read: connections.open },
  {
    name: 'http_connections_rejected',
    help: 'Client connections that were closed at once since the start because of MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS.',
    read: connections.rejected,
  },
  {
    name: 'http_public_body_bytes',
    help: 'Memory for request bodies of routes that need no key, in bytes.',
    read: bodyIntake.publicBytes,
  },
]

/** What operators ask: health, readiness, metrics. Before every other hook, so that requests are timed as a whole. */
export const registerOperations = (app: App, deps: Deps): void => {
  const { config, db, jobs, log, objects } = deps
  registerMetrics(app, { token: config.metricsToken, gauges: [...gaugesOf(deps), ...intakeGaugesOf(app)], log })
  registerHealth(app, {
    checks: [
      { name: 'database', check: () => db.hot.row(sql`select 1`) },
      { name: 'object store', check: () => objects.check() },
      { name: 'workers', check: () => checkWorkers(jobs) },
    ],
  })
}
