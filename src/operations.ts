import type { Deps } from './deps.ts'
import { sql } from './platform/database/database.ts'
import { isDiskFull } from './platform/process/disk-space.ts'
import type { DiskSpace, DiskState } from './platform/process/disk-space.ts'
import { registerHealth } from './platform/http/server/health.ts'
import type { App } from './platform/http/http.ts'
import type { Jobs } from './platform/jobs/jobs.ts'
import { registerMetrics } from './platform/http/server/metrics.ts'
import type { GaugeSource } from './platform/http/server/metrics.ts'
import type { ObjectStore } from './platform/object-store/object-store.ts'
import { unhandledErrors } from './platform/process/units.ts'
import { findDeliveryBacklog } from './webhooks/webhooks.ts'

// Longer than every backlog that workers catch up with. An API without workers is not ready.
const workersLateSeconds = 300

/**
 * Fails when jobs wait and no worker runs any. Jobs of an org that has used its share wait for a long time while workers
 * are there: that must not make the API unavailable for all orgs.
 */
const checkWorkers = async (jobs: Jobs): Promise<void> => {
  const { oldestSeconds, isWorking } = await jobs.lag()
  if (oldestSeconds > workersLateSeconds && !isWorking)
    throw new Error(`a job has waited ${oldestSeconds} s for a worker`)
}

const gaugesOf = ({ db, jobs, circuits }: Deps): GaugeSource[] => [
  {
    name: 'database_pool_connections',
    help: 'Connections of the database pool by state, and statements that wait for one.',
    label: 'state',
    read: () => new Map(Object.entries(db.poolUse())),
  },
  {
    name: 'jobs',
    help: 'Jobs by state: queued, deferred, active, or failed within 14 days.',
    label: 'state',
    read: async () => {
      const { queued, deferred, active, failed } = await jobs.lag()
      return new Map(Object.entries({ queued, deferred, active, failed }))
    },
  },
  {
    name: 'jobs_oldest_waiting_seconds',
    help: 'Delay of the oldest job that waits for a worker.',
    read: async () => (await jobs.lag()).oldestSeconds,
  },
  {
    name: 'unhandled_errors',
    help: 'Unhandled errors since the start, by unit of work. Each is a bug.',
    label: 'unit',
    read: unhandledErrors,
  },
  {
    name: 'model_provider_circuit',
    help: 'Whether this process sends requests to a model provider: 0 yes, 1 not now because it fails, 0.5 one to try again.',
    label: 'provider',
    read: circuits.states,
  },
  {
    name: 'webhook_deliveries_due',
    help: 'Deliveries that are due.',
    read: async () => (await findDeliveryBacklog(db)).due,
  },
  {
    name: 'webhook_delivery_oldest_due_seconds',
    help: 'Delay of the oldest due delivery.',
    read: async () => (await findDeliveryBacklog(db)).oldestSeconds,
  },
]

const diskGaugesOf = (disk: DiskSpace | undefined): GaugeSource[] =>
  disk === undefined
    ? []
    : [
        {
          name: 'disk_free_bytes',
          help: 'Free space on the disk of DATA_DIR.',
          read: async () => (await disk.read()).freeBytes,
        },
        {
          name: 'disk_reserve_bytes',
          help: 'Space on the disk of DATA_DIR that uploads must leave free.',
          read: async () => (await disk.read()).reserveBytes,
        },
        {
          name: 'disk_reserve_reached',
          help: '1 while uploads are rejected because less than the reserve is free.',
          read: async () => (isReserveReached(await disk.read()) ? 1 : 0),
        },
      ]

const isReserveReached = ({ freeBytes, reserveBytes }: DiskState): boolean => freeBytes < reserveBytes

const warningsOf = async (disk: DiskSpace | undefined): Promise<string[]> => {
  const state = await disk?.read()
  if (!state || !isReserveReached(state)) return []
  const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MB`
  return [`disk: ${megabytes(state.freeBytes)} free, uploads are rejected below ${megabytes(state.reserveBytes)}`]
}

/** A full disk cannot store the test object, but existing objects are readable: it is reported as a warning. */
const checkObjects = (objects: ObjectStore): Promise<void> =>
  objects.check().catch((error: unknown) => {
    if (!isDiskFull(error)) throw error
  })

const intakeGaugesOf = ({ bodyIntake, connections }: App): GaugeSource[] => [
  { name: 'http_connections', help: 'Open client connections.', read: connections.open },
  {
    name: 'http_connections_rejected',
    help: 'Client connections that were rejected since the start because of MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS.',
    read: connections.rejected,
  },
  {
    name: 'http_public_body_bytes',
    help: 'Memory in use by request bodies of public routes, in bytes.',
    read: bodyIntake.publicBytes,
  },
]

/** Health, readiness and metrics. Register it before every other hook, so that the whole request is measured. */
export const registerOperations = (app: App, deps: Deps): void => {
  const { config, db, disk, jobs, log, objects } = deps
  registerMetrics(app, {
    token: config.metricsToken,
    gauges: [...gaugesOf(deps), ...diskGaugesOf(disk), ...intakeGaugesOf(app)],
    log,
  })
  registerHealth(app, {
    warnings: () => warningsOf(disk),
    checks: [
      { name: 'database', check: () => db.hot.row(sql`select 1`) },
      { name: 'object store', check: () => checkObjects(objects) },
      { name: 'workers', check: () => checkWorkers(jobs) },
    ],
  })
}
