import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { createDeliverer } from './deliver/deliverer.ts'
import type { DelivererDeps } from './deliver/deliverer.ts'
import { purgeWebhook, turnPartitions } from './job-kinds.ts'
import { partitionDays } from './receive/record.ts'
import * as queries from './retention-queries.ts'

const batch = 5_000

export interface WebhookJobDeps extends Omit<DelivererDeps, 'schedule'> {
  config: Config
  jobs: Jobs
}

const inBatches = async (signal: AbortSignal, remove: () => Promise<number>): Promise<void> => {
  do signal.throwIfAborted()
  while ((await remove()) > 0)
}

/** What is older than `days` goes; what will be needed soon is made. */
const turn = async (db: Database, days: number, signal: AbortSignal): Promise<void> => {
  await queries.ensurePartitions(db, partitionDays)
  await db.transaction('all orgs', async (db) => {
    await queries.dropPartitions(db, days)
    await queries.deleteOldUsage(db, days)
  })
  await inBatches(signal, () => queries.deleteOldKeys(db, days, batch))
  await inBatches(signal, () => queries.deleteOldQueued(db, days, batch))
}

/** Forwarding, retention, and the removal of what deleted webhooks leave. */
export const registerWebhookJobs = (deps: WebhookJobDeps): void => {
  const { config, db, jobs } = deps
  jobs.work(purgeWebhook, ({ orgId, webhookId }, { signal }) =>
    inBatches(signal, () => queries.deleteLeftovers(db, orgId, webhookId, batch)),
  )
  jobs.work(turnPartitions, (_payload, { signal }) => turn(db, config.webhookRetentionDays, signal), { concurrency: 1 })
  jobs.schedule(turnPartitions, '17 1 * * *')
  jobs.alongside(createDeliverer({ ...deps, schedule: config.webhookRetrySchedule }))
}
