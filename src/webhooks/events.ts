import { systemActor } from '../identity/actor.ts'
import type { AuditActor } from '../identity/actor.ts'
import { inChain } from '../outbox/chain.ts'
import type { ConditionalOutboxRow } from '../outbox/queries.ts'
import { outboxRow, recordEvents } from '../outbox/record.ts'
import { failingAfterSeconds } from '../outbox/types/webhooks.ts'
import type { Transaction } from '../platform/database/database.ts'
import type { Outcome } from './deliver/queue-queries.ts'
import type { WebhookRow } from './queries.ts'
import type { NewWebhookEvent } from './receive/queries.ts'

/** Webhooks belong to the org, not to a workspace. */
const at = (webhookId: string) => ({ subjectId: webhookId, workspaceId: null })

/** Recorded if the event turns out to be new. */
export const eventReceived = (event: NewWebhookEvent): ConditionalOutboxRow => {
  const { orgId, webhookId, id: eventId, type: eventType, body } = event
  const data = { webhookId, eventId, eventType, sizeBytes: body.length }
  const row = outboxRow(systemActor(orgId, 'Webhooks'), { type: 'webhook.event.received', ...at(webhookId), data })
  return { ...row, key: eventId }
}

/** The key of a recovery is the webhook, that of a failed delivery is the delivery. */
const eventsOfOutcome = (outcome: Outcome): ConditionalOutboxRow[] => {
  const { orgId, webhookId, id: deliveryId, eventId, eventType, kind, error, failingSeconds } = outcome
  const author = systemActor(orgId, 'Deliveries')
  if (kind === 'failed') {
    const data = { webhookId, deliveryId, eventId, eventType, reason: error ?? '' }
    return [{ ...outboxRow(author, { type: 'webhook.delivery.failed', ...at(webhookId), data }), key: deliveryId }]
  }
  if (kind !== 'succeeded' || (failingSeconds ?? 0) < failingAfterSeconds) return []
  const data = { webhookId, from: 'failing' as const }
  return [{ ...outboxRow(author, { type: 'webhook.recovered', ...at(webhookId), data }), key: webhookId }]
}

/**
 * The events of ended deliveries, with one recovery for each webhook. Recorded if the outcomes are. None of deliveries to
 * event endpoints: the event of a failed delivery would be delivered to the endpoint that has failed.
 */
export const eventsOfOutcomes = (outcomes: readonly Outcome[]): ConditionalOutboxRow[] => [
  ...new Map(
    outcomes
      .filter(({ destination }) => destination === 'webhook')
      .flatMap((outcome) => inChain(outcome.chain, () => eventsOfOutcome(outcome)))
      .map((event) => [event.key, event]),
  ).values(),
]

/** Records a request that changed a webhook. */
export const recordUpdate = async (
  db: Transaction,
  actor: AuditActor,
  { current, row, changed }: { current: WebhookRow; row: WebhookRow; changed: string[] },
): Promise<void> => {
  const { id: webhookId, name, status } = row
  const isDisabled = status === 'disabled' && current.status !== 'disabled'
  const isRecovered = status === 'active' && current.status === 'disabled'
  await recordEvents(db, actor, [
    { type: 'webhook.updated', ...at(webhookId), data: { webhookId, name, changed } },
    ...(isDisabled
      ? [{ type: 'webhook.disabled' as const, ...at(webhookId), data: { webhookId, name, reason: null } }]
      : []),
    ...(isRecovered
      ? [{ type: 'webhook.recovered' as const, ...at(webhookId), data: { webhookId, from: 'disabled' as const } }]
      : []),
  ])
}
