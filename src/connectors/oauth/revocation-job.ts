import { defineJob } from '../../platform/jobs/jobs.ts'
import type { ConnectionRef } from '../connections/access.ts'

/** Revokes the grant of a revoked connection at its provider. Retries for about an hour, because providers have outages. */
export const revokeAtProvider = defineJob<ConnectionRef>('connection.revoke', { retryLimit: 12, retryDelaySeconds: 15 })

/** Enqueues the revocations that have lost their job, when a worker died during its last attempt. */
export const sweepRevocations = defineJob<Record<string, never>>('connection.sweep-revocations')
