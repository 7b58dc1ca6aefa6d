import { defineJob } from '../platform/jobs/jobs.ts'

/** Removes what a deleted webhook left. */
export const purgeWebhook = defineJob<{ orgId: string; webhookId: string }>('webhooks.purge')

/** Makes the partitions of the days to come and drops those of days that are over. */
export const turnPartitions = defineJob<Record<string, never>>('webhooks.retention')
