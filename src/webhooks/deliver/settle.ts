import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { recordEvent, recorded } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import { eventsOfOutcomes } from '../events.ts'
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

/** With `orgId`, all outcomes are of that org. */
const settleTogether = async (
  { indexed, signal }: Pick<Database, 'indexed' | 'signal'>,
  outcomes: readonly Outcome[],
  orgId: string | null,
): Promise<void> => {
  const events = eventsOfOutcomes(outcomes)
  if (outcomes.every(({ disableReason }) => disableReason === null)) {
    await queries.settleDeliveries(indexed, outcomes, orgId, events)
    for (const { orgId } of events) signal(recorded, orgId)
    return
  }
  await indexed.transaction('all orgs', async (db) => {
    for (const { orgId: org, webhookId, name, reason } of await queries.settleDeliveries(db, outcomes, orgId, events)) {
      const author = systemActor(org, 'Deliveries')
      await audit(db, author, 'webhook.disabled', { type: 'webhook', id: webhookId, details: { name, reason } })
      const data = { webhookId, name, reason }
      await recordEvent(db, author, 'webhook.disabled', { subjectId: webhookId, workspaceId: null, data })
    }
    for (const { orgId } of events) db.signal(recorded, orgId)
  })
}

/**
 * Records how attempts ended. One statement for the whole batch, or on a distributed schema for each org; only if an
 * attempt may disable a webhook is it a transaction, so that a disabled webhook and its audit entry cannot exist without
 * each other. When it throws, some of the outcomes may be recorded; recording them again changes nothing.
 */
export const settleDeliveries = async (
  db: Pick<Database, 'indexed' | 'isDistributed' | 'signal'>,
  outcomes: readonly Outcome[],
): Promise<void> => {
  if (!(await db.isDistributed())) {
    await settleTogether(db, outcomes, null)
    return
  }
  const settled = await Promise.allSettled(
    Array.from(
      Map.groupBy(outcomes, ({ orgId }) => orgId),
      ([orgId, ofOrg]) => settleTogether(db, ofOrg, orgId),
    ),
  )
  for (const { status, reason } of settled as PromiseRejectedResult[]) if (status === 'rejected') throw reason
}
