import type { Database, Transaction } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { JobContext, JobKind, Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import type { EventData, EventType } from '../catalog.ts'
import { chainAfter, inChain, maxDepth } from '../chain.ts'
import type { EventPublisher, OnPublish } from '../publisher.ts'
import { findEvent, planAnew } from '../queries.ts'
import type { EventRow } from '../queries.ts'
import * as queries from './queries.ts'
import type { NewQueuedEvent, QueuedEvent, QueueKey } from './queries.ts'

/** An event of one of these types, as it was stored. `version` is that of its type when it was recorded. */
export type EventOf<T extends EventType> = T extends EventType
  ? Omit<EventRow, 'type' | 'data'> & { type: T; data: EventData<T> }
  : never

/** The retry policy of its job and the number of events that one process handles at the same time; 10 by default. */
export interface SubscriptionOptions {
  retryLimit?: number
  retryDelaySeconds?: number
  retryDelayMaxSeconds?: number
  timeoutSeconds?: number
  concurrency?: number
}

/** Handles events of some types in the worker. Created by `defineSubscription`. */
export interface EventSubscription<Deps> extends SubscriptionOptions {
  readonly name: string
  readonly types: readonly EventType[]
  handle(deps: Deps, event: EventRow, context: JobContext): Promise<void>
}

interface TypedSubscription<Deps, T extends EventType> extends SubscriptionOptions {
  /** Events that wait for it are stored under its name, so it is never changed and not used again. */
  name: string
  types: readonly T[]
  /**
   * Called at least once for each event: again after a failure, and after the worker died, also when the call had done
   * its work. Later events of the subject wait until it resolves or has failed for good. It can open transactions; the
   * events that it records continue the chain of the event.
   */
  handle(deps: Deps, event: EventOf<T>, context: JobContext): Promise<void>
}

/** Checks the types of events at compile time. Register the subscription in worker.ts. */
export const defineSubscription = <Deps, T extends EventType>(
  subscription: TypedSubscription<Deps, T>,
): EventSubscription<Deps> => subscription

export interface SubscriptionDeps {
  db: Database
  jobs: Jobs
  log: Log
  publisher: EventPublisher
}

type Payload = Omit<QueuedEvent, 'subscription'>
type Kind = JobKind<Payload>

const defaults = { retryLimit: 20, retryDelaySeconds: 2, retryDelayMaxSeconds: 300, timeoutSeconds: 600 }

const kindOf = ({
  name,
  concurrency: _concurrency,
  types: _types,
  handle: _handle,
  ...options
}: EventSubscription<never>): Kind => defineJob<Payload>(`event.${name}`, { ...defaults, ...options, fairBy: 'orgId' })

// The sweep compares payloads, so each must have these fields only.
const payloadOf = ({ orgId, subjectType, subjectId, sequence, eventId }: QueuedEvent): Payload => ({
  orgId,
  subjectType,
  subjectId,
  sequence,
  eventId,
})

const nameOf = ({ subscription, subjectType, subjectId }: QueueKey): string =>
  `${subscription}/${subjectType}/${subjectId}`

const givenUp = 'an event was given up by a subscription'
const overLimit = 'events are not handled by a subscription, because too many of their org wait for it'
const fieldsOf = ({ orgId, eventId, subscription }: QueuedEvent) => ({ orgId, eventId, subscription })

interface Known<Deps> {
  subscription: EventSubscription<Deps>
  kind: Kind
}

/** Of one org and subscription. Counting so many takes the publisher a few milliseconds. */
const maxQueued = 10_000

/**
 * Leaves out the events for which the queue of their subscription has no room, and logs how many. Without a limit, an org
 * whose events keep failing, or come faster than they are handled, would fill the queue and the jobs of all orgs. Its
 * publisher is not paused instead, because the log and the deliveries to endpoints would wait for a subscription. Exact:
 * the lock on the head of the org is held.
 */
const dropBeyondLimit = async (
  db: Transaction,
  { log }: SubscriptionDeps,
  orgId: string,
  events: readonly NewQueuedEvent[],
): Promise<NewQueuedEvent[]> => {
  const bySubscription = Map.groupBy(events, ({ subscription }) => subscription)
  const sizes = await queries.countQueued(db, orgId, [...bySubscription.keys()], maxQueued)
  return sizes.flatMap(({ subscription, count }) => {
    const given = bySubscription.get(subscription) ?? []
    const kept = given.slice(0, maxQueued - count)
    const [first, ...rest] = given.slice(kept.length)
    if (first) {
      const dropped = { ...fieldsOf(first), lastEventId: (rest.at(-1) ?? first).eventId, count: rest.length + 1 }
      db.afterCommit(() => log.error(dropped, overLimit))
    }
    return kept
  })
}

/** Marks the events that have to wait for an earlier one of their subject, which is queued or among them. */
const markWaiting = async (db: Transaction, orgId: string, events: readonly NewQueuedEvent[]): Promise<void> => {
  const keys = new Map(events.map((event) => [nameOf(event), event]))
  const busy = new Set((await queries.listBusyKeys(db, orgId, [...keys.values()])).map(nameOf))
  for (const event of events) {
    event.waits = busy.has(nameOf(event))
    busy.add(nameOf(event))
  }
}

/**
 * Queues published events for the subscriptions to their types, and enqueues the jobs of those that need not wait. Runs no
 * statement when no subscription has the type. An event beyond the maximal depth is not queued, as it is not delivered.
 */
const createQueuing =
  (deps: SubscriptionDeps, known: readonly Known<never>[]): OnPublish =>
  async (db, orgId, published) => {
    const wanted = published
      .filter(({ depth }) => depth <= maxDepth)
      .flatMap((event) =>
        known
          .filter(({ subscription: { types } }) => (types as readonly string[]).includes(event.type))
          .map(({ subscription: { name } }): NewQueuedEvent => {
            const { subjectType, subjectId, sequence, id: eventId } = event
            const queued = { orgId, subscription: name, subjectType, subjectId, sequence: Number(sequence), eventId }
            return { ...queued, waits: false }
          }),
      )
    if (wanted.length === 0) return
    await planAnew(db)
    const events = await dropBeyondLimit(db, deps, orgId, wanted)
    if (events.length === 0) return
    await markWaiting(db, orgId, events)
    await queries.insertQueued(db, orgId, events)
    for (const { subscription, kind } of known) {
      const first = events.filter((event) => event.subscription === subscription.name && !event.waits)
      await deps.jobs.enqueueAll(db, kind, first.map(payloadOf))
    }
  }

/**
 * Removes an event that was handled or given up, and enqueues the next one of its subject. The lock on the subject, which
 * its publisher has too, orders the two: either the publisher sees that the queue is empty, or this sees its event.
 */
const endEvent = ({ db, jobs }: SubscriptionDeps, kind: Kind, event: QueuedEvent): Promise<boolean> =>
  db.indexed.transaction(event, async (db) => {
    await queries.lockSubject(db, event)
    // Otherwise another attempt has ended it, and the next one may be running.
    if (!(await queries.deleteQueued(db, event))) return false
    const next = await queries.takeNext(db, event)
    if (next) await jobs.enqueue(db, kind, payloadOf(next))
    return true
  })

const handleQueued = async <Deps>(
  deps: SubscriptionDeps & Deps,
  { subscription, kind }: Known<Deps>,
  payload: Payload,
  context: JobContext,
): Promise<void> => {
  const { db, log } = deps
  const queued: QueuedEvent = { ...payload, subscription: subscription.name }
  // An earlier attempt ended the event and died before its job was removed.
  if (!(await queries.isQueued(db.indexed, queued))) return
  const event = await findEvent(db.hot, queued.orgId, queued.eventId)
  if (!event) log.error(fieldsOf(queued), 'an event was deleted at the end of its retention before it was handled')
  try {
    if (event) await inChain(chainAfter(event), () => subscription.handle(deps, event, context))
  } catch (error) {
    if (context.isLastAttempt && (await endEvent(deps, kind, queued))) log.error(fieldsOf(queued), givenUp)
    throw error
  }
  // Another worker may have the job now and handle the event again, so the next event must not start yet.
  context.signal.throwIfAborted()
  await endEvent(deps, kind, queued)
}

export const sweepEvents = defineJob<Record<string, never>>('event-subscriptions.sweep')
const sweepPage = 1_000
/** A job is enqueued in the transaction of its event, so a younger event without a job has just ended. */
const sweepAfterSeconds = 60

/**
 * Gives up the events whose job has ended without ending them: in its last attempt the worker died. Without this, the later
 * events of their subjects would wait for ever.
 */
const giveUpLost = async (deps: SubscriptionDeps, { subscription, kind }: Known<never>): Promise<void> => {
  let page: queries.EnqueuedEvent[] = []
  do {
    page = await queries.listEnqueued(deps.db.indexed, subscription.name, {
      minSeconds: sweepAfterSeconds,
      after: page.at(-1),
      limit: sweepPage,
    })
    if (page.length === 0) return
    for (const payload of await deps.jobs.unattended(kind, page.map(payloadOf))) {
      const event = { ...payload, subscription: subscription.name }
      if (await endEvent(deps, kind, event)) {
        deps.log.error(fieldsOf(event), givenUp)
      }
    }
  } while (page.length === sweepPage)
}

/** Registers subscriptions: in every process, because each one publishes events. Workers handle them. */
export const registerSubscriptions = <Deps>(
  deps: SubscriptionDeps & Deps,
  subscriptions: readonly EventSubscription<Deps>[],
): void => {
  const { jobs, publisher } = deps
  if (subscriptions.length === 0) return
  const known = subscriptions.map((subscription) => ({ subscription, kind: kindOf(subscription) }))
  for (const one of known) {
    const { concurrency = 10 } = one.subscription
    jobs.work(one.kind, (payload, context) => handleQueued(deps, one, payload, context), { concurrency })
  }
  publisher.onPublish(createQueuing(deps, known))
  jobs.work(sweepEvents, async () => {
    for (const one of known) await giveUpLost(deps, one)
  })
  jobs.schedule(sweepEvents, '* * * * *')
}
