import { recorded } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import { createGroupCommit } from '../../platform/database/batching/group-commit.ts'
import { lacksPartition } from '../../platform/database/errors.ts'
import { ensurePartitions } from '../../platform/database/partitions.ts'
import { QuotaExceeded } from '../../quotas/quotas.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import * as queries from './queries.ts'
import type { NewWebhookEvent, ReportedWebhookEvent } from './queries.ts'
import { eventReceived } from '../events.ts'
import type { DeliveryWake } from '../deliver/wake.ts'

export interface Recorded {
  eventId: string
  /** The event is already stored; `eventId` is that of the first request. */
  duplicate: boolean
}

/** Stores events and queues their deliveries. Resolves when they are durable. */
export interface Recorder {
  record(event: NewWebhookEvent): Promise<Recorded>
  /** Stores an event without keys in a transaction of its own, as that of a request with an idempotency key. */
  recordIn(db: Database, event: NewWebhookEvent): Promise<void>
}

const maxBatch = 64
const maxBatchBytes = 2_097_152

const keysOf = ({ webhookId, idKey, bodyKey }: NewWebhookEvent): string[] =>
  [idKey, bodyKey].filter((key) => key !== null).map((key) => `${webhookId} ${key}`)

const withPartitions = async <T>(db: Database, store: () => Promise<T>): Promise<T> => {
  try {
    return await store()
  } catch (error) {
    if (!lacksPartition(error)) throw error
    // No process has run for a week, or this one slept for so long: the partition of today does not exist.
    await ensurePartitions(db)
    return store()
  }
}

/** The id of the first event with one of these keys. */
const findOriginal = async (db: Database, event: NewWebhookEvent): Promise<string> => {
  const { orgId, webhookId, id, idKey, bodyKey } = event
  const byId = idKey === null ? undefined : await queries.findEventByKey(db, orgId, webhookId, idKey)
  if (byId && byId.eventId !== id) return byId.eventId
  const byBody = bodyKey === null ? undefined : await queries.findEventByKey(db, orgId, webhookId, bodyKey)
  if (idKey !== null && byBody) await queries.pointKey(db, { orgId, webhookId, key: idKey, eventId: byBody.eventId })
  return byBody?.eventId ?? id
}

/**
 * An event waits for another one with the same key that is being stored. Events of an org near its quota are stored one
 * by one, so that the quota is exact; all others share transactions.
 */
export const createRecorder = (db: Database, quotas: Quotas, wake: DeliveryWake): Recorder => {
  const storing = new Map<string, Promise<Recorded>>()

  const announce = (events: readonly ReportedWebhookEvent[], fresh: ReadonlySet<string>): void => {
    wake.notify(events.filter(({ deliveryId }) => deliveryId !== null))
    const orgs = new Set(events.filter(({ id }) => fresh.has(id)).map(({ orgId }) => orgId))
    for (const orgId of orgs) db.signal(recorded, orgId)
  }

  const isNew = createGroupCommit<ReportedWebhookEvent, boolean>({
    laneOf: ({ webhookId }) => webhookId,
    maxItems: maxBatch,
    maxBytes: maxBatchBytes,
    bytesOf: ({ body }) => body.length,
    write: async (events) => {
      const fresh = await withPartitions(db, () => queries.recordEvents(db, events))
      announce(events, fresh)
      return events.map(({ id }) => fresh.has(id))
    },
  })

  const storeWithinQuota = async (db: Database, event: ReportedWebhookEvent): Promise<boolean> => {
    const fresh = await withPartitions(db, () =>
      db.transaction(event, async (db) => {
        await quotas.checkInsert(db, event.orgId, { eventsKept: 1 })
        return queries.recordEvents(db, [event])
      }),
    )
    announce([event], fresh)
    return fresh.has(event.id)
  }

  // One lane for each org, so that events that wait for the lock on an org's usage occupy one connection.
  const isNewWithinQuota = createGroupCommit<ReportedWebhookEvent, boolean>({
    laneOf: ({ orgId }) => orgId,
    maxItems: 1,
    write: async ([event]) => [await storeWithinQuota(db, event as ReportedWebhookEvent)],
  })

  // Here, because the write may run in the chain of another request.
  const withReport = (event: NewWebhookEvent): ReportedWebhookEvent => ({
    ...event,
    received: event.isOfEndpoint ? undefined : eventReceived(event),
  })

  const recordNearQuota = async (event: ReportedWebhookEvent): Promise<Recorded | undefined> => {
    try {
      return (await isNewWithinQuota(event)) ? { eventId: event.id, duplicate: false } : undefined
    } catch (error) {
      if (!(error instanceof QuotaExceeded)) throw error
      // The provider would send a duplicate again and again.
      const stored = await queries.findStoredEvent(db, event)
      if (!stored) throw error
      return { eventId: stored.eventId, duplicate: true }
    }
  }

  const recordAlone = async (event: NewWebhookEvent): Promise<Recorded> => {
    const isNear = await quotas.isNear(event.orgId, 'eventsKept')
    const reported = withReport(event)
    const recorded = isNear
      ? await recordNearQuota(reported)
      : (await isNew(reported))
        ? { eventId: event.id, duplicate: false }
        : undefined
    return recorded ?? { eventId: await findOriginal(db, event), duplicate: true }
  }

  return {
    record: async (event) => {
      const keys = keysOf(event)
      const first = keys.map((key) => storing.get(key)).find((recorded) => recorded !== undefined)
      if (first) return { ...(await first), duplicate: true }
      const recorded = recordAlone(event)
      for (const key of keys) storing.set(key, recorded)
      try {
        return await recorded
      } finally {
        for (const key of keys) storing.delete(key)
      }
    },
    recordIn: async (db, event) => void (await storeWithinQuota(db, withReport(event))),
  }
}
