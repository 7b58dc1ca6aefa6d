import type { Actor } from '../identity/actor.ts'
import { getWorkspace } from '../identity/members/workspaces.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import type { Db } from '../platform/database/database.ts'
import { maxDepth } from '../outbox/chain.ts'
import { findEvent } from '../outbox/queries.ts'
import type { EventRow } from '../outbox/queries.ts'
import { expandEvent } from '../outbox/expand.ts'
import type { Expanders } from '../outbox/expand.ts'
import * as queries from './queries.ts'
import { openEvents } from './restricted.ts'
import type { EventListQuery } from './schemas.ts'
import { checkPatterns, isVisible, matchesAny, visibilityOf } from './visibility.ts'

/** Bounds the time of a page whose filter leaves out nearly everything. */
const rowsPerPage = 5_000

/** An event as readers see it. Equal for every reader and every delivery. */
export const eventRecord = (row: EventRow) => ({
  id: row.id,
  type: row.type,
  version: row.version,
  orgId: row.orgId,
  workspaceId: row.workspaceId,
  actor: row.actor,
  subject: { type: row.subjectType, id: row.subjectId },
  position: Number(row.position),
  sequence: Number(row.sequence),
  occurredAt: row.occurredAt,
  chain: { id: row.chainId, depth: row.depth },
  isDelivered: row.depth <= maxDepth,
  data: row.data,
})

/**
 * A page of the events that the actor may read. `nextCursor` is the position to continue after, also on the last page, so
 * that a consumer that stores it reads every event once. A page can have fewer items than `limit` although more follow.
 */
export const listEvents = async (
  db: Db,
  actor: Actor,
  { after, order, limit, types, workspaceId, subjectId }: EventListQuery,
) => {
  const patterns = checkPatterns(types?.split(',') ?? [])
  const visible = await visibilityOf(db, actor)
  const wanted = (types: ReadonlySet<string>): string[] => [...types].filter((type) => matchesAny(patterns, type))
  const inWorkspaces = workspaceId === undefined ? visible.workspaceIds : new Set([workspaceId])
  if (workspaceId !== undefined) await getWorkspace(db, actor, workspaceId)
  const window = { order, after: after === undefined ? undefined : BigInt(after), rows: rowsPerPage, limit: limit + 1 }
  const { events, lastPosition, count } = await queries.listEvents(
    db,
    actor.orgId,
    {
      types: wanted(visible.types),
      own: { types: wanted(visible.ownTypes), userId: visible.userId },
      workspaceIds: inWorkspaces === null ? undefined : [...inWorkspaces],
      subjectId,
    },
    window,
  )
  // A position that the log has not reached is one of another database, such as one from before a restored backup. A
  // consumer that continued there would miss events until the log has reached it.
  if (lastPosition === null && events.length === 0 && after !== undefined && order === 'asc') {
    const head = await queries.findHead(db, actor.orgId)
    if (BigInt(after) > head) throw badRequest(`after must be at most ${head}, the position of the last event`)
  }
  const read = events.slice(0, limit)
  const isCut = events.length > limit
  const last = isCut ? read.at(-1)?.position : lastPosition
  return {
    items: (await openEvents(db, actor, read)).map(eventRecord),
    nextCursor: last?.toString() ?? after ?? null,
    hasMore: isCut || count === rowsPerPage,
  }
}

/** NOT_FOUND for an event that the actor may not read. With the contents that `expanders` read. */
export const getEvent = async (db: Db, actor: Actor, id: string, expanders: Expanders) => {
  const row = await findEvent(db, actor.orgId, id)
  if (!row || !isVisible(await visibilityOf(db, actor), row)) throw notFound('Event')
  if ((await openEvents(db, actor, [row])).length === 0) throw notFound('Event')
  return { ...eventRecord(row), ...(await expandEvent(expanders, row)) }
}
