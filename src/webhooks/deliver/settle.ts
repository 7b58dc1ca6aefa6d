import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import * as queries from './queue-queries.ts'
import type { ClaimedRow, Outcome } from './queue-queries.ts'

/** 410 Gone: the endpoint is permanently unavailable (RFC 9110, 15.5.11). */
export const goneStatus = 410
const maxFailingSeconds = 5 * 86_400

export type Disabling = Pick<Outcome, 'disableReason' | 'failingSince'>

/**
 * Whether an attempt disables its webhook: at once if the endpoint responded with 410, or if no attempt has succeeded
 * for five days. The second reason applies only as long as the webhook has been failing since `failingSince`.
 */
export const disablingBy = (
  { failingSince, failingSeconds }: Pick<ClaimedRow, 'failingSince' | 'failingSeconds'>,
  { succeeded, status }: { succeeded: boolean; status: number | undefined },
): Disabling => {
  if (status === goneStatus) return { disableReason: 'The endpoint responded with 410 Gone.', failingSince: null }
  if (succeeded || failingSeconds === null || failingSeconds <= maxFailingSeconds) {
    return { disableReason: null, failingSince: null }
  }
  return { disableReason: 'All attempts have failed for five days.', failingSince }
}

/**
 * Records how attempts ended. One statement for the whole batch; only if an attempt may disable a webhook is it a
 * transaction, so that a disabled webhook and its audit entry cannot exist without each other.
 */
export const settleDeliveries = async (
  { indexed }: Pick<Database, 'indexed'>,
  outcomes: readonly Outcome[],
): Promise<void> => {
  if (outcomes.every(({ disableReason }) => disableReason === null)) {
    await queries.settleDeliveries(indexed, outcomes)
    return
  }
  await indexed.transaction('all orgs', async (db) => {
    for (const { orgId, webhookId, name, reason } of await queries.settleDeliveries(db, outcomes)) {
      const resource = { type: 'webhook', id: webhookId, details: { name, reason } }
      await audit(db, systemActor(orgId, 'Deliveries'), 'webhook.disabled', resource)
    }
  })
}
