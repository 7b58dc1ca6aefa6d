import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import { createDeliverer } from './deliver/deliverer.ts'
import type { WebhookDeps } from './deps.ts'
import { purgeWebhook, applyRetention } from './job-kinds.ts'
import { partitionDays } from './receive/record.ts'
import * as queries from './retention-queries.ts'

const batch = 5_000

export interface WebhookJobDeps extends Omit<WebhookDeps, 'quotas' | 'orgOfLinear'> {
  log: Log
}

const inBatches = async (signal: AbortSignal, remove: () => Promise<number>): Promise<void> => {
  do signal.throwIfAborted()
  while ((await remove()) > 0)
}

const retain = async (db: Database, days: number, signal: AbortSignal): Promise<void> => {
  await queries.ensurePartitions(db, partitionDays)
  await db.transaction('all orgs', async (db) => {
    await queries.dropPartitions(db, days)
    await queries.deleteOldUsage(db, days)
  })
  await inBatches(signal, () => queries.deleteOldKeys(db, days, batch))
  await inBatches(signal, () => queries.deleteOldQueued(db, days, batch))
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
