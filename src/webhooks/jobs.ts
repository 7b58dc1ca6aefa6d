import type { Database } from '../platform/database/database.ts'
import { dropExpired, ensurePartitions } from '../platform/database/partitions.ts'
import type { Log } from '../platform/process/log.ts'
import type { AttemptDeps } from './deliver/attempt.ts'
import { createDeliverer } from './deliver/deliverer.ts'
import type { WebhookDeps } from './deps.ts'
import { purgeWebhook, applyRetention } from './job-kinds.ts'
import * as queries from './retention-queries.ts'

const batch = 5_000

export interface WebhookJobDeps extends Omit<WebhookDeps, 'quotas' | 'orgOfLinear'> {
  log: Log
  prepareEvent: AttemptDeps['prepareEvent']
  prepareTask: AttemptDeps['prepareTask']
}

const inBatches = async (signal: AbortSignal, remove: () => Promise<number>): Promise<void> => {
  do signal.throwIfAborted()
  while ((await remove()) > 0)
}

const retain = async (db: Database, days: number, signal: AbortSignal): Promise<void> => {
  await ensurePartitions(db)
  // Before their partitions are dropped: the outcome of a delivery is stored in the partition of the delivery's day.
  await inBatches(signal, () => queries.deleteOldQueued(db, days, batch))
  await dropExpired(db, 'webhook_deliveries', { days })
  await dropExpired(db, 'webhook_events', {
    days,
    beforeDrop: async (db, partition) => {
      await queries.deleteOldUsage(db, partition)
    },
  })
  await inBatches(signal, () => queries.deleteOldKeys(db, days, batch))
  await queries.releaseWaiting(db)
}

/** Forwarding, retention and the cleanup after deleted webhooks. */
export const registerWebhookJobs = (deps: WebhookJobDeps): void => {
  const { config, db, jobs } = deps
  jobs.work(purgeWebhook, ({ orgId, webhookId }, { signal }) =>
    inBatches(signal, () => queries.deleteLeftovers(db, orgId, webhookId, batch)),
  )
  jobs.work(applyRetention, (_payload, { signal }) => retain(db, config.webhookRetentionDays, signal), {
    concurrency: 1,
  })
  jobs.schedule(applyRetention, '17 1 * * *')
  jobs.alongside(createDeliverer({ ...deps, schedule: config.webhookRetrySchedule }))
}
