import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Transaction } from '../platform/database/database.ts'
import { sqlState } from '../platform/database/errors.ts'
import { ensurePartitions } from '../platform/database/partitions.ts'
import { firstId } from '../platform/ids.ts'
import { createBackoff } from '../platform/process/backoff.ts'
import type { Log } from '../platform/process/log.ts'
import * as queries from './queries.ts'
import type { EventRow } from './queries.ts'
import { recorded } from './record.ts'

export type { EventRow } from './queries.ts'

/** Runs in the transaction that publishes events, in their order. It must be fast: the org's later events wait for it. */
export type OnPublish = (db: Transaction, orgId: string, events: readonly EventRow[]) => Promise<void>

/** Moves committed events from the outbox to the log. Runs in every process, for the events that the process recorded. */
export interface EventPublisher {
  /** Call it before `start`. */
  onPublish(work: OnPublish): void
  start(): void
  /** Publishes what the outbox has now, of all orgs: events of processes that died after a commit. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

/** The signal that events of an org were published. Its key is the org. */
export const published = 'events published'

const eventsAtOnce = 500
const orgsAtOnce = 4
/** Events within this time share a transaction. */
const gapMs = 15
const orgsPerSweep = 500
const retry = { firstMs: 200, maxMs: 5_000 }
const noPartition = '23514'

/** Publishes up to 500 events of an org, and returns how many. */
const publishOnce = async (db: Database, orgId: string, work: readonly OnPublish[]): Promise<number> => {
  const events = await db.transaction({ orgId }, async (db) => {
    let head = await queries.lockHead(db, orgId)
    if (!head) {
      await queries.insertHead(db, orgId)
      head = await queries.lockHead(db, orgId)
    }
    // The lock of another process may have been released after the snapshot of a statement that waited for it, so the
    // outbox is read by a statement of its own.
    const events = await queries.publishEvents(db, orgId, head?.position ?? 0n, eventsAtOnce)
    events.sort((a, b) => Number(a.position - b.position))
    if (events.length > 0) for (const run of work) await run(db, orgId, events)
    return events
  })
  return events.length
}

const publishOrg = async (db: Database, orgId: string, work: readonly OnPublish[]): Promise<void> => {
  for (;;) {
    let count: number
    try {
      count = await publishOnce(db, orgId, work)
    } catch (error) {
      if (sqlState(error) !== noPartition) throw error
      // No process has created partitions for months.
      await ensurePartitions(db)
      continue
    }
    if (count > 0) db.signal(published, orgId)
    if (count < eventsAtOnce) return
  }
}

export const createPublisher = ({ db, log }: { db: Database; log: Log }): EventPublisher => {
  const work: OnPublish[] = []
  /** Orgs with new events, in order of arrival. */
  const waiting = new Set<string>()
  const running = new Map<string, Promise<void>>()
  const backoff = createBackoff(retry)
  const stopping = new AbortController()
  let isStarted = false

  const publish = async (orgId: string): Promise<void> => {
    try {
      await publishOrg(db, orgId, work)
      backoff.reset()
      await delay(gapMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    } catch (error) {
      log.warn({ err: error, orgId }, 'events could not be published and are published later')
      waiting.add(orgId)
      await delay(backoff.next(), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    running.delete(orgId)
    pump()
  }

  const pump = (): void => {
    if (!isStarted || stopping.signal.aborted) return
    for (const orgId of waiting) {
      if (running.size >= orgsAtOnce) return
      if (running.has(orgId)) continue
      waiting.delete(orgId)
      running.set(orgId, publish(orgId))
    }
  }

  const add = (orgId: string): void => {
    waiting.add(orgId)
    pump()
  }
  db.onSignal(recorded, add)

  return {
    onPublish: (run) => {
      work.push(run)
    },
    start: () => {
      isStarted = true
      pump()
    },
    sweep: async () => {
      const list = (await db.isDistributed()) ? queries.listWaitingOrgsOfShards : queries.listWaitingOrgs
      for (let after = firstId; ;) {
        const orgs = await list(db.indexed, after, orgsPerSweep)
        for (const { orgId } of orgs) add(orgId)
        const last = orgs.at(-1)
        if (!last || orgs.length < orgsPerSweep) return
        after = last.orgId
      }
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}
