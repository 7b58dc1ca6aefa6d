import { defineJob } from '../../platform/jobs/jobs.ts'
import type { ConnectionRef } from './refresh.ts'

/** Gives the grant of a revoked connection back to its provider. An hour of trying, then it is given up. */
export const revokeAtProvider = defineJob<ConnectionRef>('connection.revoke', { retryLimit: 12, retryDelaySeconds: 15 })
