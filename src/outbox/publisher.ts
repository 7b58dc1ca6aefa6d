import type { Database, Transaction } from '../platform/database/database.ts'
import { lacksPartition } from '../platform/database/errors.ts'
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

const eventsAtOnce = 200
/** Each takes a connection of the pool of requests. The second one only under a backlog. */
const orgsAtOnce = 1
const orgsAtOnceBehind = 2
const backlog = 8
/** Between two transactions for an org: events within this time share one. */
const gapMs = 20
const orgsPerSweep = 500
const retry = { firstMs: 200, maxMs: 5_000 }

/** Publishes up to 200 events of an org, and returns how many. */
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

/** Publishes one batch. Returns whether the outbox of the org may have more. */
const publishBatch = async (db: Database, orgId: string, work: readonly OnPublish[]): Promise<boolean> => {
  try {
    const count = await publishOnce(db, orgId, work)
    if (count > 0) db.signal(published, orgId)
    return count === eventsAtOnce
  } catch (error) {
    if (!lacksPartition(error)) throw error
    // No process has created partitions for months.
    await ensurePartitions(db)
    return true
  }
}

export const createPublisher = ({ db, log }: { db: Database; log: Log }): EventPublisher => {
  const work: OnPublish[] = []
  /** Orgs with new events, in order of arrival. */
  const waiting = new Set<string>()
  const running = new Map<string, Promise<void>>()
  const backoff = createBackoff(retry)
  const resting = new Map<string, NodeJS.Timeout>()
  let isStarted = false
  let isStopped = false

  /** The org is not published before the pause has ended. Other orgs are. */
  const rest = (orgId: string, ms: number): void => {
    resting.set(
      orgId,
      setTimeout(() => {
        resting.delete(orgId)
        pump()
      }, ms).unref(),
    )
  }

  const publish = async (orgId: string): Promise<void> => {
    try {
      const isMore = await publishBatch(db, orgId, work)
      backoff.reset()
      // At the end of the queue, so that an org with many events does not delay the others.
      if (isMore) waiting.add(orgId)
      else rest(orgId, gapMs)
    } catch (error) {
      log.warn({ err: error, orgId }, 'events could not be published and are published later')
      waiting.add(orgId)
      rest(orgId, backoff.next())
    }
    running.delete(orgId)
    pump()
  }

  const pump = (): void => {
    if (!isStarted || isStopped) return
    for (const orgId of waiting) {
      if (running.size >= (waiting.size > backlog ? orgsAtOnceBehind : orgsAtOnce)) return
      if (running.has(orgId) || resting.has(orgId)) continue
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
      isStopped = true
      for (const timer of resting.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
