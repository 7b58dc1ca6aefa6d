import { newId } from '../platform/ids.ts'
import type { DeferredInsert, Transaction } from '../platform/database/database.ts'
import { eventTypes } from './catalog.ts'
import type { EventData, EventType } from './catalog.ts'
import { currentChain } from './chain.ts'
import type { EventDefinition } from './define.ts'
import * as queries from './queries.ts'
import type { EventActor, OutboxRow, OutboxTemplate } from './queries.ts'

/** The author of a change. An `Actor` or an `AuditActor` is one. */
export interface EventAuthor {
  readonly orgId: string
  readonly userId: string | null
  readonly userName: string
  readonly apiKey: { readonly id: string } | null
}

export interface NewEvent<T extends EventType = EventType> {
  type: T
  /** The id of what the event is about; `catalog.ts` has its type. */
  subjectId: string
  /** Only members of the workspace may read the event. Null: all members of the org with the permission of its area. */
  workspaceId: string | null
  data: EventData<T>
  /** The person to whom the subject belongs, for types with `owner`. */
  ownerId?: string
}

/** An event of any type, whose data is that of its type. */
export type AnyEvent = { [T in EventType]: NewEvent<T> }[EventType]

const actorOf = ({ userId, userName, apiKey }: EventAuthor): EventActor =>
  userId === null
    ? { type: 'system', id: null, name: userName, apiKeyId: null }
    : { type: 'user', id: userId, name: userName, apiKeyId: apiKey?.id ?? null }

const outbox: DeferredInsert<OutboxRow> = { insert: (rows) => queries.insertOutbox(rows) }

/** The signal of a commit that has put events into the outbox. Its key is the org. */
export const recorded = 'events recorded'

/** The part of an event that is known before its statement runs, when the statement computes the rest. */
export const outboxTemplate = (author: EventAuthor, type: EventType): OutboxTemplate => {
  const chain = currentChain()
  const { subject, version } = eventTypes[type]
  return {
    orgId: author.orgId,
    id: newId(),
    type,
    version,
    actor: JSON.stringify(actorOf(author)),
    subjectType: subject,
    chainId: chain?.id ?? null,
    depth: chain?.depth ?? 0,
  }
}

/** The row of an event, for `queries.insertOutbox` in a statement of an area. After the commit, signal `recorded`. */
export const outboxRow = <T extends EventType>(author: EventAuthor, event: NewEvent<T>): OutboxRow => {
  const { type, workspaceId, subjectId, ownerId = null, data } = event
  const { owner } = eventTypes[type] as EventDefinition
  if ((owner === undefined) !== (ownerId === null))
    throw new Error(`the owner of the subject decides who reads ${type}`)
  return { ...outboxTemplate(author, type), workspaceId, subjectId, ownerId, data: JSON.stringify(data) }
}

/** Records an event as `recordEvents` does. */
export const deferEvent = <T extends EventType>(db: Transaction, author: EventAuthor, event: NewEvent<T>): void => {
  db.defer(outbox, outboxRow(author, event))
  db.signal(recorded, author.orgId)
}

/**
 * Records events in the transaction of the change, so that neither is stored without the other. They are inserted just
 * before the commit, when the transaction has the locks on their subjects: it has changed or inserted the rows.
 */
export const recordEvents = async <T extends EventType>(
  db: Transaction,
  author: EventAuthor,
  events: readonly NewEvent<T>[],
): Promise<void> => {
  for (const event of events) deferEvent(db, author, event)
}

/** Records one event; see `recordEvents`. */
export const recordEvent = <T extends EventType>(
  db: Transaction,
  author: EventAuthor,
  type: T,
  event: Omit<NewEvent<T>, 'type'>,
): Promise<void> => recordEvents(db, author, [{ type, ...event } as NewEvent<T>])
