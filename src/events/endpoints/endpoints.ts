import { randomBytes } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { getWorkspace } from '../../identity/members/workspaces.ts'
import { eventTypes } from '../../outbox/catalog.ts'
import type { EventType } from '../../outbox/catalog.ts'
import { recordEvent } from '../../outbox/record.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { badRequest, notFound, validationError } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { standardSecret } from '../../platform/signatures/standard-webhooks.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { deliveriesOf } from '../../webhooks/deliver/deliveries.ts'
import { recentResultsOf } from '../../webhooks/deliver/recent-results-queries.ts'
import type { DeliveryWake } from '../../webhooks/deliver/wake.ts'
import { enqueuePurge } from '../../webhooks/job-kinds.ts'
import type { Recorder } from '../../webhooks/receive/record.ts'
import { wholeList } from '../../webhooks/schemas.ts'
import { eventEndpointSecretColumn } from '../../webhooks/secrets.ts'
import { pageOf, positionOf } from '../../webhooks/webhooks.ts'
import {
  checkPatterns,
  isVisible,
  matchesAny,
  requireReadable,
  requireReadableType,
  seesSome,
  visibilityOf,
} from '../visibility.ts'
import { parseFilter } from './filter.ts'
import { exampleBody } from './example.ts'
import { openEvents } from '../restricted.ts'
import * as queries from './queries.ts'
import type { EndpointOwner, EndpointRow, EndpointSettings } from './queries.ts'
import { lostRights, visibilitiesOf } from './rights.ts'
import type { EventEndpointCreate, EventEndpointListQuery, EventEndpointPatch } from './schemas.ts'
import type { Transformer } from './transform/transformer.ts'

export interface EndpointDeps {
  config: Config
  db: Database
  deliveryWake: DeliveryWake
  jobs: Jobs
  outbound: Outbound
  quotas: Quotas
  secrets: Sealer
  transformer: Transformer
}

const what = 'Event endpoint'
const auditedType = 'event-endpoint'

/** NOT_FOUND names `resource`, the kind of thing that the path asks for below the endpoint. */
const getRow = async (db: Db, actor: Actor, id: string, resource: string = what): Promise<EndpointRow> => {
  const row = await queries.findEndpoint(db, actor, id)
  if (!row) throw notFound(resource)
  return row
}

export const endpointDeliveries = deliveriesOf({ table: 'event_endpoints', name: 'event endpoint', get: getRow })

export type ShownDelivery = Awaited<ReturnType<typeof endpointDeliveries.get>>

/**
 * Deliveries as the API shows them: it calls the destination by its kind, and marks test events. Body and headers of a
 * response, which can repeat the event, are empty for callers who may not read every event of its type. The owner of the
 * endpoint only needs permission to read this one.
 */
export const recordsOfDeliveries = async (
  db: Db,
  actor: Actor,
  endpointId: string,
  deliveries: readonly ShownDelivery[],
) => {
  if (deliveries.length === 0) return []
  const { orgId, userId } = actor
  const eventIds = deliveries.map(({ eventId }) => eventId)
  const tests = new Set((await queries.listTestEvents(db, orgId, endpointId, eventIds)).map(({ id }) => id))
  const endpoint = await getRow(db, actor, endpointId)
  const visibility = await visibilityOf(db, actor)
  const { types, workspaceIds } = visibility
  const events = await queries.listSubjects(db, orgId, eventIds)
  const open = new Set((await openEvents(db, actor, events)).map(({ id }) => id))
  const logged = new Map(events.map((event) => [event.id, event]))
  const seesEvery = (type: string): boolean => workspaceIds === null && types.has(type)
  const isOwner = endpoint.userId === userId
  const isShown = ({ eventId, eventType }: Pick<ShownDelivery, 'eventId' | 'eventType'>): boolean => {
    const event = logged.get(eventId)
    if (event && !open.has(eventId)) return false
    if (seesEvery(eventType)) return true
    // The owner may have been another person when the event was delivered.
    return isOwner && (event ? isVisible(visibility, event) : tests.has(eventId) && seesSome(visibility, eventType))
  }
  return deliveries.map(({ webhookId, response, ...delivery }) => ({
    ...delivery,
    response: response && (isShown(delivery) ? response : { ...response, headers: {}, body: '' }),
    endpointId: webhookId,
    isTest: tests.has(delivery.eventId),
  }))
}

/** API representations of endpoints. Reads whether their owners still have their rights. */
export const recordsOf = async (db: Db, orgId: string, rows: readonly EndpointRow[]) => {
  if (rows.length === 0) return []
  const visibilityOf = await visibilitiesOf(db, orgId, rows)
  const resultsOf = await recentResultsOf(
    db,
    orgId,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const { userId, apiKeyId, scopes: _, ...shown } = row
    const hasRights = visibilityOf(row) !== undefined
    return {
      ...shown,
      statusReason: row.statusReason ?? (row.status === 'active' && !hasRights ? lostRights : null),
      owner: { userId, apiKeyId },
      deliveryCount: Number(row.deliveryCount),
      recentResults: resultsOf(row.id).recentResults,
    }
  })
}

/** An endpoint as the API shows it. */
export const recordOf = async (db: Db, row: EndpointRow) => {
  const [record] = await recordsOf(db, row.orgId, [row])
  if (!record) throw new Error('one row has one record')
  return record
}

export const getEndpoint = (db: Db, actor: Actor, id: string): Promise<EndpointRow> => getRow(db, actor, id)

/** Newest first. */
export const listEndpoints = async (db: Db, actor: Actor, { limit = wholeList, cursor }: EventEndpointListQuery) => {
  const before = positionOf(cursor)
  const { items, nextCursor } = pageOf(await queries.listEndpoints(db, actor, { limit: limit + 1, before }), limit)
  return { items: await recordsOf(db, actor.orgId, items), nextCursor }
}

const cleanName = (text: string): string => {
  const name = text.trim()
  if (name === '') throw badRequest('name must be 1–120 characters')
  return name
}

const cleanUrl = ({ outbound }: EndpointDeps, { orgId }: Actor, text: string): Promise<string> =>
  outbound.cleanUrl(text.trim(), { orgId })

const cleanTypes = (actor: Actor, types: readonly string[]): string[] => {
  const patterns = checkPatterns(types)
  requireReadable(actor, patterns)
  return patterns
}

/** NOT_FOUND for a workspace that the caller cannot see. */
const cleanWorkspaceIds = async (db: Database, actor: Actor, ids: readonly string[] | null) => {
  if (ids === null) return null
  const distinct = [...new Set(ids)]
  for (const id of distinct) await getWorkspace(db, actor, id)
  return distinct
}

const cleanTransform = async ({ transformer }: EndpointDeps, { orgId, userId }: Actor, transform: string | null) => {
  if (transform !== null) await transformer.check({ orgId, userId }, transform)
  return transform
}

const ownerOf = ({ userId, apiKey }: Actor): EndpointOwner => ({
  userId,
  apiKeyId: apiKey?.id ?? null,
  scopes: [...(apiKey?.scopes ?? [])],
})

const newSecret = ({ secrets }: EndpointDeps, orgId: string, id: string) => {
  const secret = standardSecret(randomBytes(32))
  return { secret, sealed: secrets.seal(secret, eventEndpointSecretColumn.at(orgId, id)) }
}

/** A new endpoint and its secret, which no other call returns. BAD_REQUEST for a URL that is not public. */
export const createEndpoint = async (
  db: Database,
  actor: Actor,
  deps: EndpointDeps,
  body: EventEndpointCreate,
): Promise<{ endpoint: EndpointRow; secret: string }> => {
  const id = newId()
  const { secret, sealed } = newSecret(deps, actor.orgId, id)
  const settings: EndpointSettings = {
    name: cleanName(body.name),
    url: await cleanUrl(deps, actor, body.url),
    types: cleanTypes(actor, body.types),
    workspaceIds: await cleanWorkspaceIds(db, actor, body.workspaceIds ?? null),
    filter: body.filter == null ? null : parseFilter(body.filter),
    ordering: body.ordering ?? 'none',
    expand: body.expand ?? false,
    transform: await cleanTransform(deps, actor, body.transform ?? null),
  }
  return db.transaction(actor, async (db) => {
    await deps.quotas.checkRow(db, actor.orgId, 'webhooks')
    const endpoint = await queries.insertEndpoint(db, actor, { ...settings, ...ownerOf(actor), id, sealed })
    if (!endpoint) throw new Error('an insert returned no row')
    const { name, types } = endpoint
    await audit(db, actor, 'event-endpoint.created', { type: auditedType, id, details: { name, types } })
    await recordEvent(db, actor, 'event_endpoint.created', {
      subjectId: id,
      workspaceId: null,
      data: { endpointId: id, name, types },
    })
    return { endpoint, secret }
  })
}

/** The fields of a patch that can be checked without the row. */
const cleanPatch = async (
  db: Database,
  actor: Actor,
  deps: EndpointDeps,
  patch: EventEndpointPatch,
): Promise<Partial<EndpointSettings>> => ({
  ...(patch.name === undefined ? {} : { name: cleanName(patch.name) }),
  ...(patch.url === undefined ? {} : { url: await cleanUrl(deps, actor, patch.url) }),
  ...(patch.types === undefined ? {} : { types: cleanTypes(actor, patch.types) }),
  ...(patch.workspaceIds === undefined ? {} : { workspaceIds: await cleanWorkspaceIds(db, actor, patch.workspaceIds) }),
  ...(patch.filter === undefined ? {} : { filter: patch.filter === null ? null : parseFilter(patch.filter) }),
  ...(patch.ordering === undefined ? {} : { ordering: patch.ordering }),
  ...(patch.expand === undefined ? {} : { expand: patch.expand }),
  ...(patch.transform === undefined ? {} : { transform: await cleanTransform(deps, actor, patch.transform) }),
})

/**
 * Changes an endpoint. Who sets what is sent and where becomes the owner, so that nobody can direct events that only
 * somebody else may read to a URL of their own, or find out by a filter what is in them. Kept deliveries are sent when it
 * becomes active.
 */
export const updateEndpoint = async (
  db: Database,
  actor: Actor,
  deps: EndpointDeps,
  { id, patch, ifMatch }: { id: string; patch: EventEndpointPatch; ifMatch: string | undefined },
): Promise<EndpointRow> => {
  // Before the transaction, because it resolves the host name.
  const change = await cleanPatch(db, actor, deps, patch)
  return db.transaction(actor, async (db) => {
    const current = await queries.lockEndpoint(db, actor, id)
    if (!current) throw notFound(what)
    requireMatch(ifMatch, current)
    const takesOver = Object.keys(change).some((field) => field !== 'name')
    const owner = takesOver ? ownerOf(actor) : {}
    if (takesOver) requireReadable(actor, change.types ?? current.types)
    const next = { ...current, ...change, ...owner, status: patch.status ?? current.status }
    const row = await queries.updateEndpoint(db, actor, id, next)
    if (!row) throw notFound(what)
    const changed = Object.keys(patch)
    await audit(db, actor, 'event-endpoint.updated', {
      type: auditedType,
      id,
      details: { fields: changed, status: row.status },
    })
    await recordEvent(db, actor, 'event_endpoint.updated', {
      subjectId: id,
      workspaceId: null,
      data: { endpointId: id, name: row.name, changed },
    })
    db.afterCommit(() => deps.deliveryWake.notify([{ orgId: actor.orgId, webhookId: id }]))
    return row
  })
}

/** Replaces the secret. Attempts that begin after the commit are signed with the new one. */
export const rotateSecret = async (
  db: Database,
  actor: Actor,
  deps: EndpointDeps,
  id: string,
): Promise<{ endpoint: EndpointRow; secret: string }> =>
  db.transaction(actor, async (db) => {
    const { secret, sealed } = newSecret(deps, actor.orgId, id)
    const endpoint = await queries.updateSecret(db, actor, id, sealed)
    if (!endpoint) throw notFound(what)
    await audit(db, actor, 'event-endpoint.secret-rotated', { type: auditedType, id })
    await recordEvent(db, actor, 'event_endpoint.updated', {
      subjectId: id,
      workspaceId: null,
      data: { endpointId: id, name: endpoint.name, changed: ['secret'] },
    })
    return { endpoint, secret }
  })

/** Deletes an endpoint. Its deliveries are no longer visible; a job deletes their rows. */
export const deleteEndpoint = async (
  db: Database,
  actor: Actor,
  { jobs }: EndpointDeps,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const current = await queries.lockEndpoint(db, actor, id)
    if (!current) throw notFound(what)
    requireMatch(ifMatch, current)
    await queries.deleteEndpoint(db, actor, id)
    await enqueuePurge(db, jobs, { orgId: actor.orgId, webhookId: id })
    const { name } = current
    await audit(db, actor, 'event-endpoint.deleted', { type: auditedType, id, details: { name } })
    await recordEvent(db, actor, 'event_endpoint.deleted', {
      subjectId: id,
      workspaceId: null,
      data: { endpointId: id, name },
    })
  })

/** The type of a test event. BAD_REQUEST for one that does not exist, FORBIDDEN for one that the caller may not read. */
const testTypeOf = (actor: Actor, endpoint: EndpointRow, given: string | undefined): EventType => {
  const types = Object.keys(eventTypes) as EventType[]
  const type = types.find((one) => (given === undefined ? matchesAny(endpoint.types, one) : one === given))
  if (type === undefined) throw badRequest('type must be one of GET /event-types')
  requireReadableType(actor, type)
  return type
}

/**
 * Sends a test event with the data of the example in the catalog to an endpoint, and returns its delivery. It is not in
 * the log; its body is stored and counted like a received event. VALIDATION_ERROR for a disabled endpoint.
 */
export const sendTest = async (
  db: Database,
  actor: Actor,
  recorder: Recorder,
  { id, type: given }: { id: string; type: string | undefined },
) => {
  const endpoint = await getRow(db, actor, id)
  if (endpoint.status === 'disabled') {
    throw validationError('The event endpoint is disabled and receives no events. Activate it first.')
  }
  const type = testTypeOf(actor, endpoint, given)
  const [eventId, deliveryId] = [newId(), newId()]
  await recorder.recordIn(db, {
    isOfEndpoint: true,
    orgId: actor.orgId,
    webhookId: id,
    id: eventId,
    type,
    externalId: null,
    idKey: null,
    bodyKey: null,
    status: 'recorded',
    headers: '{}',
    contentType: 'application/json',
    body: exampleBody(actor, type, eventId),
    deliveryId,
  })
  return endpointDeliveries.get(db, actor, id, deliveryId)
}
