import { defineJob } from '../platform/jobs/jobs.ts'

/** Deletes the events and deliveries of a deleted webhook. */
export const purgeWebhook = defineJob<{ orgId: string; webhookId: string }>('webhooks.purge', { fairBy: 'orgId' })

/** Creates the partitions of the next days and drops those beyond the retention. */
export const applyRetention = defineJob<Record<string, never>>('webhooks.retention')
