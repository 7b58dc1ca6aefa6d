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
const maxIdLength = 200

/** An id of any length as a key of an index, whose rows are limited to some 2,700 bytes. */
export const keyOf = (id: string): string =>
  id.length <= maxIdLength ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`

const nameOf = ({ orgId, endpointId, externalId }: EventKey): string => `${orgId}/${endpointId}/${externalId}`

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
  const waiting: Waiting[] = []
  let isWriting = false

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

  const flush = async (): Promise<void> => {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) await writeBatch(waiting.splice(0, batchSize))
    isWriting = false
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
