import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { inChain } from '../../outbox/chain.ts'
import { recordEvent, recorded } from '../../outbox/record.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
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

const recordDisabled = async (
  db: Transaction,
  { destination, orgId, webhookId: id, name, reason }: queries.Disabled,
): Promise<void> => {
  const author = systemActor(orgId, 'Deliveries')
  const details = { name, reason }
  if (destination === 'webhook') {
    await audit(db, author, 'webhook.disabled', { type: 'webhook', id, details })
    const data = { webhookId: id, name, reason }
    await recordEvent(db, author, 'webhook.disabled', { subjectId: id, workspaceId: null, data })
    return
  }
  await audit(db, author, 'event-endpoint.disabled', { type: 'event-endpoint', id, details })
  await recordEvent(db, author, 'event_endpoint.disabled', {
    subjectId: id,
    workspaceId: null,
    data: { endpointId: id, name, reason },
  })
}

/** Records what was disabled, in the chain of an attempt that caused it. */
const recordAllDisabled = async (
  db: Transaction,
  disabled: readonly queries.Disabled[],
  outcomes: readonly Outcome[],
): Promise<void> => {
  for (const one of disabled) {
    const cause = outcomes.find(({ webhookId, disableReason }) => webhookId === one.webhookId && disableReason !== null)
    await inChain(cause?.chain, () => recordDisabled(db, one))
  }
}

/** With `orgId`, all outcomes are of that org. */
const settleUnordered = async (
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
    await recordAllDisabled(db, await queries.settleDeliveries(db, outcomes, orgId, events), outcomes)
    for (const { orgId } of events) db.signal(recorded, orgId)
  })
}

/**
 * Deliveries that are sent one after another: the next one of each key becomes due. The endpoints are locked first, as by
 * the publisher when it queues deliveries: otherwise a new delivery could wait for one that ends at the same time, and
 * nothing would make it due.
 */
const settleOrdered = async (
  { indexed }: Pick<Database, 'indexed'>,
  outcomes: readonly Outcome[],
  orgId: string | null,
): Promise<void> =>
  indexed.transaction('all orgs', async (db) => {
    const orgs = [...Map.groupBy(outcomes, (outcome) => outcome.orgId)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [org, ofOrg] of orgs) {
      await queries.lockEndpoints(
        db,
        org,
        ofOrg.map(({ webhookId }) => webhookId),
      )
    }
    const disabled = await queries.settleDeliveries(db, outcomes, orgId)
    const keys = outcomes.flatMap(({ orgId, orderKey }) => (orderKey === null ? [] : [{ orgId, orderKey }]))
    await queries.releaseNext(db, keys, orgId)
    await recordAllDisabled(db, disabled, outcomes)
  })

/** With `orgId`, all outcomes are of that org. */
const settleTogether = async (
  db: Pick<Database, 'indexed' | 'signal'>,
  outcomes: readonly Outcome[],
  orgId: string | null,
): Promise<void> => {
  const isOrdered = ({ orderKey }: Outcome): boolean => orderKey !== null
  const [ordered, others] = [outcomes.filter(isOrdered), outcomes.filter((outcome) => !isOrdered(outcome))]
  if (others.length > 0) await settleUnordered(db, others, orgId)
  if (ordered.length > 0) await settleOrdered(db, ordered, orgId)
}

/**
 * Records how attempts ended. One statement for the whole batch, or on a distributed schema for each org. It is a
 * transaction only if an attempt may disable a webhook, so that a disabled webhook and its audit entry cannot exist without
 * each other, and for deliveries that are sent in order. When it throws, some of the outcomes may be recorded; recording
 * them again changes nothing.
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
