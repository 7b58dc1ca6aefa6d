import { sqlState } from '../../platform/database/errors.ts'
import type { Database } from '../../platform/database/database.ts'
import { createGroupCommit } from '../../platform/database/group-commit.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import * as queries from './queries.ts'
import type { NewEvent } from './queries.ts'
import { ensurePartitions } from '../retention-queries.ts'
import type { Wakeup } from '../deliver/wakeup.ts'

export interface Recorded {
  eventId: string
  /** It was here before; the id is that of the first. */
  duplicate: boolean
}

/** Stores events. Resolves once they are durable. */
export interface Recorder {
  record(event: NewEvent): Promise<Recorded>
}

/** Days ahead for which there are partitions. */
export const partitionDays = 7

const maxBatch = 64
const maxBatchBytes = 2_097_152

const keysOf = ({ webhookId, idKey, bodyKey }: NewEvent): string[] =>
  [idKey, bodyKey].filter((key) => key !== null).map((key) => `${webhookId} ${key}`)

const noPartition = '23514'

const withPartitions = async <T>(db: Database, store: () => Promise<T>): Promise<T> => {
  try {
    return await store()
  } catch (error) {
    if (sqlState(error) !== noPartition) throw error
    // No worker has made partitions for days.
    await ensurePartitions(db, partitionDays)
    return store()
  }
}

/** The event that was here first. */
const findOriginal = async (db: Database, event: NewEvent): Promise<string> => {
  const { orgId, webhookId, id, idKey, bodyKey } = event
  const byId = idKey === null ? undefined : await queries.findEventByKey(db, orgId, webhookId, idKey)
  if (byId && byId.eventId !== id) return byId.eventId
  const byBody = bodyKey === null ? undefined : await queries.findEventByKey(db, orgId, webhookId, bodyKey)
  if (idKey !== null && byBody) await queries.pointKey(db, orgId, webhookId, idKey, byBody.eventId)
  return byBody?.eventId ?? id
}

/**
 * An event that has a key in common with one that is under way waits for that one's end. Events of an org that is near
 * its quota are counted one by one, so that no more are kept than it allows; all others share their commits.
 */
export const createRecorder = (db: Database, quotas: Quotas, wakeup: Wakeup): Recorder => {
  const underWay = new Map<string, Promise<Recorded>>()

  const isNew = createGroupCommit<NewEvent, boolean>({
    laneOf: ({ webhookId }) => webhookId,
    maxItems: maxBatch,
    maxBytes: maxBatchBytes,
    bytesOf: ({ body }) => body.length,
    write: async (events) => {
      const fresh = await withPartitions(db, () => queries.recordEvents(db, events))
      wakeup.notify(events.filter(({ deliveryId }) => deliveryId !== null))
      return events.map(({ id }) => fresh.has(id))
    },
  })

  // One org takes one connection here, however many of its events wait for the lock on its usage.
  const isNewWithinQuota = createGroupCommit<NewEvent, boolean>({
    laneOf: ({ orgId }) => orgId,
    maxItems: 1,
    write: async (events) => {
      const fresh = await withPartitions(db, () =>
        db.transaction(events[0] as NewEvent, async (db) => {
          for (const { orgId } of events) await quotas.take(db, orgId, { eventsKept: 1 })
          return queries.recordEvents(db, events)
        }),
      )
      wakeup.notify(events.filter(({ deliveryId }) => deliveryId !== null))
      return events.map(({ id }) => fresh.has(id))
    },
  })

  const recordAlone = async (event: NewEvent): Promise<Recorded> => {
    const isNear = await quotas.isNear(event.orgId, 'eventsKept')
    return (await (isNear ? isNewWithinQuota(event) : isNew(event)))
      ? { eventId: event.id, duplicate: false }
      : { eventId: await findOriginal(db, event), duplicate: true }
  }

  return {
    record: async (event) => {
      const keys = keysOf(event)
      const first = keys.map((key) => underWay.get(key)).find((recorded) => recorded !== undefined)
      if (first) return { ...(await first), duplicate: true }
      const recorded = recordAlone(event)
      for (const key of keys) underWay.set(key, recorded)
      try {
        return await recorded
      } finally {
        for (const key of keys) underWay.delete(key)
      }
    },
  }
}
