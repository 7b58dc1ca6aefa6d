import { createHash } from 'node:crypto'
import type { Database } from '../platform/database.ts'
import { isDatabaseUnavailable } from '../platform/database.ts'
import { defineJob } from '../platform/jobs.ts'
import type { Jobs } from '../platform/jobs.ts'
import * as queries from './event-queries.ts'
import type { EventKey, NewEvent } from './event-queries.ts'

/** An agent is to hear what came. The event's row says what. */
export const hearEvent = defineJob<EventKey>('connector.event', { retryLimit: 50, retryDelayMaxSeconds: 60 })

/** Keeps verified events, each with the job that it needs, once. */
export interface Inbox {
  /** False when it was there already. Rejects when it could not be stored: then it is to come again. */
  store(event: NewEvent): Promise<boolean>
}

const batchSize = 200
/** While one waits for the disk, the next is made ready. */
const maxWriters = 3
const maxIdLength = 200

/** An id of any length as a key of an index, whose rows are limited to some 2,700 bytes. */
export const keyOf = (id: string): string =>
  id.length <= maxIdLength ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`

const nameOf = ({ orgId, endpointId, externalId }: EventKey): string => `${orgId}/${endpointId}/${externalId}`

/** All that another event may collide with. */
const namesOf = (event: NewEvent): string[] => [
  nameOf(event),
  ...(event.secondId === null ? [] : [`${event.endpointId}/second/${event.secondId}`]),
]

interface Waiting {
  event: NewEvent
  settle(isNew: boolean): void
  fail(error: unknown): void
}

/**
 * Events that arrive while others are being written go into the next transaction together: the price of a commit is
 * paid once for all that wait for it, so that a burst of one endpoint's events does not hold up another's.
 */
export const createInbox = (db: Database, jobs: Pick<Jobs, 'enqueueAll'>): Inbox => {
  let waiting: Waiting[] = []
  let writers = 0

  const write = (events: NewEvent[]): Promise<EventKey[]> =>
    db.transaction(async (db) => {
      let stored = await queries.insertEvents(db, events)
      if (stored.length < events.length && (await queries.releaseSecondIds(db, events))) {
        stored = [...stored, ...(await queries.insertEvents(db, events))]
      }
      const waits = new Set(events.filter(({ state }) => state === 'waiting').map(nameOf))
      await jobs.enqueueAll(
        db,
        hearEvent,
        stored.filter((key) => waits.has(nameOf(key))),
      )
      return stored
    })

  const writeBatch = async (batch: Waiting[]): Promise<void> => {
    try {
      const stored = new Set((await write(batch.map(({ event }) => event))).map(nameOf))
      // Of two of one batch that are the same event, the first is the new one.
      for (const { event, settle } of batch) settle(stored.delete(nameOf(event)))
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { fail } of batch) fail(error)
      // What the database refuses to take from one is not the others' fault.
      else for (const one of batch) await writeBatch([one])
    }
  }

  // Two transactions that insert the same events in different orders would wait for one another.
  const inFlight = new Set<string>()

  const takeBatch = (): Waiting[] => {
    const batch: Waiting[] = []
    const later: Waiting[] = []
    for (const one of waiting) {
      const isFree = batch.length < batchSize && !namesOf(one.event).some((name) => inFlight.has(name))
      ;(isFree ? batch : later).push(one)
    }
    waiting = later
    for (const { event } of batch) for (const name of namesOf(event)) inFlight.add(name)
    return batch
  }

  const flush = async (): Promise<void> => {
    if (writers >= maxWriters) return
    writers += 1
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
      await writeBatch(batch)
      for (const { event } of batch) for (const name of namesOf(event)) inFlight.delete(name)
    }
    writers -= 1
  }

  return {
    store: (event) => {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      waiting.push({ event, settle: resolve, fail: reject })
      void flush()
      return promise
    },
  }
}
