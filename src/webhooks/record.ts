import { isDatabaseUnavailable, sqlState } from '../platform/database.ts'
import type { Database } from '../platform/database.ts'
import * as queries from './event-queries.ts'
import type { NewEvent } from './event-queries.ts'
import { ensurePartitions } from './retention-queries.ts'
import type { Wakeup } from './wakeup.ts'

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

interface Entry {
  event: NewEvent
  keys: string[]
  done: PromiseWithResolvers<Recorded>
}

const keysOf = ({ webhookId, idKey, bodyKey }: NewEvent): string[] =>
  [idKey, bodyKey].filter((key) => key !== null).map((key) => `${webhookId} ${key}`)

const noPartition = '23514'

const store = async (db: Database, events: NewEvent[]): Promise<Set<string>> => {
  try {
    return await queries.recordEvents(db, events)
  } catch (error) {
    if (sqlState(error) !== noPartition) throw error
    // No worker has made partitions for days.
    await ensurePartitions(db, partitionDays)
    return queries.recordEvents(db, events)
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
 * All events that arrive while one statement is under way go into the next one together: under load a commit is shared
 * by many, alone nobody waits. An event that has a key in common with one that is under way waits for that one's end.
 */
export const createRecorder = (db: Database, wakeup: Wakeup): Recorder => {
  const waiting: Entry[] = []
  const byKey = new Map<string, Entry>()
  let running = false

  const forget = (entry: Entry): void => {
    for (const key of entry.keys) if (byKey.get(key) === entry) byKey.delete(key)
  }

  const settle = async (entry: Entry, fresh: Set<string>): Promise<void> => {
    const { event, done } = entry
    try {
      if (fresh.has(event.id)) done.resolve({ eventId: event.id, duplicate: false })
      else done.resolve({ eventId: await findOriginal(db, event), duplicate: true })
    } catch (error) {
      done.reject(error)
    }
    forget(entry)
  }

  const flush = async (entries: Entry[]): Promise<void> => {
    try {
      const fresh = await store(
        db,
        entries.map(({ event }) => event),
      )
      wakeup.notify(entries.filter(({ event }) => event.deliveryId !== null).map(({ event }) => event))
      await Promise.all(entries.map((entry) => settle(entry, fresh)))
    } catch (error) {
      if (entries.length > 1 && !isDatabaseUnavailable(error)) {
        // One of them is at fault: the others must not fail for it.
        for (const entry of entries) await flush([entry])
        return
      }
      for (const entry of entries) {
        forget(entry)
        entry.done.reject(error)
      }
    }
  }

  const takeBatch = (): Entry[] => {
    let bytes = 0
    let count = 0
    for (const { event } of waiting) {
      bytes += event.body.length
      if (count === maxBatch || (count > 0 && bytes > maxBatchBytes)) break
      count += 1
    }
    return waiting.splice(0, count)
  }

  const run = async (): Promise<void> => {
    if (running) return
    running = true
    while (waiting.length > 0) await flush(takeBatch())
    running = false
  }

  return {
    record: async (event) => {
      const keys = keysOf(event)
      const first = keys.map((key) => byKey.get(key)).find((entry) => entry !== undefined)
      if (first) return { ...(await first.done.promise), duplicate: true }
      const entry: Entry = { event, keys, done: Promise.withResolvers() }
      for (const key of keys) byKey.set(key, entry)
      waiting.push(entry)
      void run()
      return entry.done.promise
    },
  }
}
