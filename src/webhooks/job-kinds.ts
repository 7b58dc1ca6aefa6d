import type { Transaction } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'

/** Deletes the events and deliveries of a deleted webhook. */
export const purgeWebhook = defineJob<{ orgId: string; webhookId: string }>('webhooks.purge', { fairBy: 'orgId' })

/** Longer than an event or a delivery takes to be stored after its webhook was read. */
const lateSeconds = 300

/** Enqueues the deletion of the rows of a webhook, and again for those that are being stored while it is deleted. */
export const enqueuePurge = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  of: { orgId: string; webhookId: string },
): Promise<void> => {
  await jobs.enqueue(db, purgeWebhook, of)
  await jobs.enqueue(db, purgeWebhook, of, { startAfterSeconds: lateSeconds })
}

/** Creates the partitions of the next days and drops those beyond the retention. */
export const applyRetention = defineJob<Record<string, never>>('webhooks.retention')
