import { newId } from '../platform/ids.ts'
import type { Transaction } from '../platform/database/database.ts'
import { definitionOf } from './catalog.ts'
import type { EventData, EventType } from './catalog.ts'
import { currentChain } from './chain.ts'
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
}

const actorOf = ({ userId, userName, apiKey }: EventAuthor): EventActor =>
  userId === null
    ? { type: 'system', id: null, name: userName, apiKeyId: null }
    : { type: 'user', id: userId, name: userName, apiKeyId: apiKey?.id ?? null }

/** The signal of a commit that has put events into the outbox. Its key is the org. */
export const recorded = 'events recorded'

/** The part of an event that is known before its statement runs, when the statement computes the rest. */
export const outboxTemplate = (author: EventAuthor, type: EventType): OutboxTemplate => {
  const chain = currentChain()
  return {
    orgId: author.orgId,
    id: newId(),
    type,
    actor: JSON.stringify(actorOf(author)),
    subjectType: definitionOf(type)?.subject as string,
    chainId: chain?.id ?? null,
    depth: chain?.depth ?? 0,
  }
}

/** The row of an event, for `queries.insertOutbox` in a statement of an area. After the commit, signal `recorded`. */
export const outboxRow = <T extends EventType>(author: EventAuthor, event: NewEvent<T>): OutboxRow => ({
  ...outboxTemplate(author, event.type),
  workspaceId: event.workspaceId,
  subjectId: event.subjectId,
  data: JSON.stringify(event.data),
})

/**
 * Records events in the transaction of the change, so that neither is stored without the other. Call it while the
 * transaction has the lock on the subject, which is after its row was changed or inserted.
 */
export const recordEvents = async <T extends EventType>(
  db: Transaction,
  author: EventAuthor,
  events: readonly NewEvent<T>[],
): Promise<void> => {
  if (events.length === 0) return
  await queries.writeEvents(
    db,
    events.map((event) => outboxRow(author, event)),
  )
  db.signal(recorded, author.orgId)
}

/** Records one event; see `recordEvents`. */
export const recordEvent = <T extends EventType>(
  db: Transaction,
  author: EventAuthor,
  type: T,
  event: Omit<NewEvent<T>, 'type'>,
): Promise<void> => recordEvents(db, author, [{ type, ...event } as NewEvent<T>])
