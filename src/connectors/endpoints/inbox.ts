import { createHash } from 'node:crypto'
import type { Database } from '../../platform/database/database.ts'
import { createGroupCommit } from '../../platform/database/group-commit.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as queries from './event-queries.ts'
import type { EventKey, NewEvent } from './event-queries.ts'

/** An agent is to hear what came. The event's row says what. */
export const hearEvent = defineJob<EventKey>('connector.event', { retryLimit: 50, retryDelayMaxSeconds: 60 })

/** Keeps verified events, each with the job that it needs, once. */
export interface Inbox {
  /** False when it was there already. Rejects when it could not be stored: then it is to come again. */
  store(event: NewEvent): Promise<boolean>
}

const maxEvents = 200
const maxIdLength = 200

/** An id of any length as a key of an index, whose rows are limited to some 2,700 bytes. */
export const keyOf = (id: string): string =>
  id.length <= maxIdLength ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`

const nameOf = ({ orgId, endpointId, externalId }: EventKey): string => `${orgId}/${endpointId}/${externalId}`

/**
 * Events that arrive while others of their endpoint are being written go into the next transaction together: a burst of
 * one endpoint's events takes few commits, and does not hold up another's.
 */
export const createInbox = (db: Database, jobs: Pick<Jobs, 'enqueueAll'>): Inbox => {
  const write = (events: NewEvent[]): Promise<EventKey[]> =>
    db.transaction('all orgs', async (db) => {
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

  return {
    store: createGroupCommit({
      laneOf: ({ endpointId }) => endpointId,
      maxItems: maxEvents,
      write: async (events) => {
        const stored = new Set((await write(events)).map(nameOf))
        // Of two that are the same event, the first is the new one.
        return events.map((event) => stored.delete(nameOf(event)))
      },
    }),
  }
}
