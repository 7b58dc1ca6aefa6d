import { defineJob } from '../../platform/jobs/jobs.ts'
import type { ConnectionRef } from '../connections/access.ts'

/** Revokes the grant of a revoked connection at its provider. Retries for about an hour, because providers have outages. */
export const revokeAtProvider = defineJob<ConnectionRef>('connection.revoke', {
  retryLimit: 12,
  retryDelaySeconds: 15,
  fairBy: 'orgId',
})

/** Revokes the connections of former members, and enqueues revocations whose worker died during the last attempt. */
export const sweepConnections = defineJob<Record<string, never>>('connection.sweep')
