import { chainAfter, chainHeadersOf } from '../../outbox/chain.ts'
import type { ChainHeaders } from '../../outbox/chain.ts'
import { expandEvent } from '../../outbox/expand.ts'
import type { Expanders } from '../../outbox/expand.ts'
import type { Database } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { AttemptDeps, Prepared, PreparedEvent } from '../../webhooks/deliver/attempt.ts'
import type { ClaimedRow } from '../../webhooks/deliver/queue-queries.ts'
import { openEvents } from '../restricted.ts'
import { isVisible } from '../visibility.ts'
import { findLoggedEvent } from './queries.ts'
import type { LoggedEvent } from './queries.ts'
import { createRightsReader, lostRights } from './rights.ts'
import { TransformError } from './transform/transformer.ts'
import type { Transformer } from './transform/transformer.ts'

const contentType = { 'content-type': 'application/json' }

/**
 * The body of a delivery: JSON, the same bytes on every attempt, and for every endpoint with the same `expand`. Only
 * contents that were deleted between two attempts make a difference.
 */
export const bodyOf = (event: LoggedEvent, more: object = {}, expanded: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: event.id,
      type: event.type,
      version: event.version,
      timestamp: event.occurredAt,
      ...more,
      orgId: event.orgId,
      workspaceId: event.workspaceId,
      actor: event.actor,
      subject: event.subject,
      sequence: event.sequence,
      position: event.position,
      chain: { id: event.chainId, depth: event.depth },
      data: event.data,
      ...expanded,
    }),
  )

interface ReadEvent {
  event: LoggedEvent
  body: Buffer
}

/** Reads events of the log. Deliveries of the same event at the same time share the row and the body. */
const createEventReader = (db: Database, expanders: Expanders) => {
  const reading = new Map<string, Promise<ReadEvent | undefined>>()
  const readOne = async (orgId: string, id: string, expand: boolean): Promise<ReadEvent | undefined> => {
    const event = await findLoggedEvent(db.hot, orgId, id)
    return event && { event, body: bodyOf(event, {}, expand ? await expandEvent(expanders, event) : {}) }
  }
  return (orgId: string, id: string, expand: boolean): Promise<ReadEvent | undefined> => {
    const key = `${orgId} ${id} ${expand}`
    let read = reading.get(key)
    if (!read) {
      read = readOne(orgId, id, expand).finally(() => reading.delete(key))
      reading.set(key, read)
    }
    return read
  }
}

/**
 * Replaces the body by the result of the transform. A transform that fails is a defect of the endpoint that a retry does not
 * repair, so the delivery fails at once.
 */
const transformed = async (
  transformer: Transformer,
  { orgId, webhookId: key, transform }: ClaimedRow,
  prepared: PreparedEvent,
): Promise<Prepared> => {
  if (transform === null || prepared.body === null) return prepared
  try {
    const body = await transformer.apply({ orgId, key, transform }, prepared.body.toString())
    return { ...prepared, body: Buffer.from(body) }
  } catch (error) {
    if (error instanceof TransformError) return { error: error.shown, isAttempt: true }
    if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE') return 'postponed'
    throw error
  }
}

/**
 * Reads the event of a delivery to an event endpoint, and the rights of the person who set its URL. Test events are not in
 * the log: their bodies are stored like those of received events.
 */
export const createPrepareEvent = ({
  db,
  chains,
  expanders,
  transformer,
}: {
  db: Database
  chains: ChainHeaders
  expanders: Expanders
  transformer: Transformer
}): AttemptDeps['prepareEvent'] => {
  const readEvent = createEventReader(db, expanders)
  const readRights = createRightsReader(db.hot)
  return async (row: ClaimedRow): Promise<Prepared> => {
    const { orgId, eventId, userId, apiKeyId, scopes, expand } = row
    if (userId === null) throw new Error(`the delivery ${row.id} is not one of an event endpoint`)
    const [visibility, read] = await Promise.all([
      readRights(orgId, { userId, apiKeyId, scopes: scopes ?? [] }),
      row.body === null ? readEvent(orgId, eventId, expand === true) : undefined,
    ])
    if (!visibility) return { error: lostRights }
    if (row.body !== null) return transformed(transformer, row, { body: row.body, headers: contentType })
    if (!read) return { body: null, headers: {} }
    const { event, body } = read
    const subject = { subjectType: event.subject.type, subjectId: event.subject.id, data: event.data }
    const isOpen = (await openEvents(db.hot, visibility.reader, [subject])).length > 0
    if (!isOpen || !isVisible(visibility, event)) {
      return { error: 'The person who set the URL may not read this event any more.' }
    }
    const chain = chainAfter(event)
    const headers = { ...contentType, ...chainHeadersOf(chains, orgId, chain) }
    return transformed(transformer, row, { body, headers, chain })
  }
}
