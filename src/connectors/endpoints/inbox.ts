import { createHash } from 'node:crypto'
import { recorded } from '../../outbox/record.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { createGroupCommit } from '../../platform/database/batching/group-commit.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as queries from './event-queries.ts'
import type { EventKey, NewConnectorEvent } from './event-queries.ts'

/** Starts the turn of the agent for an event. The event's row has the message. */
export const handleEvent = defineJob<EventKey>('connector.event', {
  retryLimit: 50,
  retryDelayMaxSeconds: 60,
  fairBy: 'orgId',
})

/** Stores verified events once, each with the job that it needs. */
export interface Inbox {
  /** False for a duplicate. Rejects if the event could not be stored and has to be sent again. */
  store(event: NewConnectorEvent): Promise<boolean>
}

const maxEvents = 200
const maxIdLength = 200

/** An id as the key of an index, whose entries are limited to about 2,700 bytes: long ids are hashed. */
export const keyOf = (id: string): string =>
  id.length <= maxIdLength ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`

const nameOf = ({ orgId, endpointId, externalId }: EventKey): string => `${orgId}/${endpointId}/${externalId}`

/**
 * Events that arrive while others of their endpoint are being written share the next transaction: a burst to one
 * endpoint needs few commits and does not delay other endpoints.
 */
export const createInbox = (db: Database, jobs: Pick<Jobs, 'enqueueAll'>): Inbox => {
  const writeOf = async (db: Transaction, events: NewConnectorEvent[]): Promise<EventKey[]> => {
    const endpoint = events[0] as NewConnectorEvent
    let stored = await queries.insertEvents(db, endpoint, events)
    if (stored.length < events.length && (await queries.releaseSecondIds(db, endpoint, events))) {
      stored = [...stored, ...(await queries.insertEvents(db, endpoint, events))]
    }
    if (stored.length > 0) db.signal(recorded, endpoint.orgId)
    const waiting = new Set(events.filter(({ state }) => state === 'waiting').map(nameOf))
    await jobs.enqueueAll(
      db,
      handleEvent,
      stored.filter((key) => waiting.has(nameOf(key))),
      { memberOf: ({ endpointId }) => endpointId },
    )
    return stored
  }

  const write = (events: NewConnectorEvent[]): Promise<EventKey[]> =>
    db.transaction('all orgs', async (db) => {
      const stored: EventKey[] = []
      // A write has the events of every endpoint that waited for it. In the order of ids: two processes that store the
      // same events could otherwise wait for each other.
      const byEndpoint = [...Map.groupBy(events, ({ endpointId }) => endpointId)].toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      )
      for (const [, ofEndpoint] of byEndpoint) stored.push(...(await writeOf(db, ofEndpoint)))
      return stored
    })

  return {
    store: createGroupCommit({
      laneOf: ({ endpointId }) => endpointId,
      maxItems: maxEvents,
      write: async (events) => {
        const stored = new Set((await write(events)).map(nameOf))
        // Of two equal events in a batch, only the first is new.
        return events.map((event) => stored.delete(nameOf(event)))
      },
    }),
  }
}
