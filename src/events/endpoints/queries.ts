import type { Actor } from '../../identity/actor.ts'
import { keysAsked, sql } from '../../platform/database/database.ts'
import type { Db, LookUp } from '../../platform/database/database.ts'
import { maxDepth } from '../../outbox/chain.ts'
import type { EventActor, EventRow } from '../../outbox/queries.ts'
import type { Filter } from './filter.ts'

export type EndpointStatus = 'active' | 'paused' | 'disabled'
export type DeliveryResult = 'succeeded' | 'failed'
export type Ordering = 'none' | 'subject'

/** Who set the URL of an endpoint, and by which API key. */
export interface EndpointOwner {
  userId: string
  apiKeyId: string | null
  scopes: string[]
}

/** What decides whether an endpoint receives an event. */
export interface ReceivingEndpoint extends EndpointOwner {
  id: string
  types: string[]
  /** Null: all. */
  workspaceIds: string[] | null
  filter: Filter | null
  ordering: Ordering
}

export interface EndpointRow extends ReceivingEndpoint {
  orgId: string
  name: string
  url: string
  status: EndpointStatus
  statusReason: string | null
  deliveryCount: bigint
  lastDeliveryAt: string | null
  failingSince: string | null
  /** Whether deliveries have the contents that events refer to. */
  expand: boolean
  /** The expression whose result is sent instead of the event. Null: none. */
  transform: string | null
  revision: number
  createdAt: string
  updatedAt: string
}

const columns = sql`org_id, id, name, url, types, workspace_ids, filter, ordering, expand, transform, status, status_reason, user_id,
  api_key_id, scopes, delivery_count, last_delivery_at, failing_since, revision, created_at, updated_at`

export const findEndpoint = (db: Db, actor: Actor, id: string) =>
  db.row<EndpointRow>(sql`select ${columns} from event_endpoints where org_id = ${actor.orgId} and id = ${id}`)

export const lockEndpoint = (db: Db, actor: Actor, id: string) =>
  db.row<EndpointRow>(sql`
    select ${columns} from event_endpoints where org_id = ${actor.orgId} and id = ${id} for no key update`)

/** Newest first, with ids below `before`. */
export const listEndpoints = (db: Db, actor: Actor, { limit, before }: { limit: number; before: string }) =>
  db.rows<EndpointRow>(sql`
    select ${columns} from event_endpoints where org_id = ${actor.orgId} and id < ${before}
    order by id desc limit ${limit}`)

/** Those of the events that were sent by `test`: their bodies are stored like those of received events. */
export const listTestEvents = (db: Db, orgId: string, endpointId: string, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    select id from webhook_events where org_id = ${orgId} and webhook_id = ${endpointId} and id = any(${ids}::uuid[])`)

export interface EndpointSettings {
  name: string
  url: string
  types: string[]
  workspaceIds: string[] | null
  filter: Filter | null
  ordering: Ordering
  expand: boolean
  transform: string | null
}

const jsonOf = (filter: Filter | null): string | null => (filter === null ? null : JSON.stringify(filter))

export const insertEndpoint = (
  db: Db,
  actor: Actor,
  endpoint: EndpointSettings & EndpointOwner & { id: string; sealed: string },
) =>
  db.row<EndpointRow>(sql`
    insert into event_endpoints (org_id, id, name, url, types, workspace_ids, filter, ordering, expand, transform,
      secret, user_id, api_key_id, scopes)
    values (${actor.orgId}, ${endpoint.id}, ${endpoint.name}, ${endpoint.url}, ${endpoint.types},
      ${endpoint.workspaceIds}, ${jsonOf(endpoint.filter)}, ${endpoint.ordering}, ${endpoint.expand},
      ${endpoint.transform}, ${endpoint.sealed}, ${endpoint.userId}, ${endpoint.apiKeyId}, ${endpoint.scopes})
    returning ${columns}`)

/** A change of status clears the server's reason for the old one and restarts the count of failing days. */
export const updateEndpoint = (
  db: Db,
  actor: Actor,
  id: string,
  change: EndpointSettings & EndpointOwner & { status: EndpointStatus },
) =>
  db.row<EndpointRow>(sql`
    update event_endpoints
    set name = ${change.name}, url = ${change.url}, types = ${change.types}, workspace_ids = ${change.workspaceIds},
      filter = ${jsonOf(change.filter)}, ordering = ${change.ordering}, expand = ${change.expand},
      transform = ${change.transform}, user_id = ${change.userId}, api_key_id = ${change.apiKeyId}, scopes = ${change.scopes}, status = ${change.status},
      status_reason = case when status = ${change.status} then status_reason end,
      failing_since = case when status = ${change.status} then failing_since end,
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

export const updateSecret = (db: Db, actor: Actor, id: string, sealed: string) =>
  db.row<EndpointRow>(sql`
    update event_endpoints set secret = ${sealed}, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

export const deleteEndpoint = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`delete from event_endpoints where org_id = ${actor.orgId} and id = ${id}`)

/** The endpoints of an org that receive events now. */
export const listReceiving = (db: Db, orgId: string) =>
  db.rows<ReceivingEndpoint>(sql`
    select id, types, workspace_ids, filter, ordering, user_id, api_key_id, scopes from event_endpoints
    where org_id = ${orgId} and status <> 'disabled' order by id`)

export interface NewDelivery {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  /** Null: in any order. */
  orderKey: string | null
  orderNumber: bigint | null
  /** Whether an earlier delivery of the key has to end first. */
  waits: boolean
}

/** Queues deliveries of one org. */
export const queueDeliveries = (db: Db, orgId: string, deliveries: readonly NewDelivery[]) => {
  const column = <Key extends keyof NewDelivery>(key: Key): NewDelivery[Key][] => deliveries.map((one) => one[key])
  return db.execute(sql`
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, order_key, order_number, due_at)
    select ${orgId}::uuid, g.id, g.webhook_id, g.event_id, g.event_type, g.order_key, g.order_number,
      case when g.waits then 'infinity' else now() end
    from unnest(${column('id')}::uuid[], ${column('endpointId')}::uuid[],
      ${column('eventId')}::uuid[], ${column('eventType')}::text[], ${column('orderKey')}::text[],
      ${column('orderNumber').map((number) => number?.toString() ?? null)}::bigint[], ${column('waits')}::boolean[])
      as g (id, webhook_id, event_id, event_type, order_key, order_number, waits)`)
}

/** Adds to the numbers of deliveries that chains have caused, and returns the sums. */
export const countChainDeliveries = (db: Db, orgId: string, counts: ReadonlyMap<string, number>) =>
  db.rows<{ id: string; deliveries: number }>(sql`
    insert into event_chains as c (org_id, id, deliveries)
    select ${orgId}::uuid, g.id, g.deliveries
    from unnest(${[...counts.keys()]}::uuid[], ${[...counts.values()]}::integer[]) as g (id, deliveries)
    on conflict (org_id, id) do update set deliveries = c.deliveries + excluded.deliveries
    returning c.id, c.deliveries`)

/** Marks events of the log as too far from the first one of their chain, so that nothing is delivered. */
export const endChain = (db: Db, orgId: string, eventIds: readonly string[]) =>
  db.execute(sql`
    update events set depth = ${maxDepth + 1} where org_id = ${orgId} and id = any(${eventIds}::uuid[])`)

/** Deletes up to `limit` counts of chains that have ended: their header has expired. */
export const deleteOldChains = (db: Db, limit: number) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    delete from event_chains where (org_id, id) in (
      select org_id, id from event_chains where created_at < now() - interval '3 days' limit ${limit})`)

/** The keys that have a delivery that has not ended. The order makes the planner use the index by key. */
export const listBusyKeys = (db: Db, orgId: string, keys: readonly string[]) =>
  db.rows<{ orderKey: string }>(sql`
    select k.order_key from unnest(${keys}::text[]) as k (order_key) cross join lateral (
      select q.number from webhook_queue q where q.org_id = ${orgId} and q.order_key = k.order_key
      order by q.order_number limit 1) as found`)

/** An event of the log as a delivery contains it. */
export interface LoggedEvent {
  id: string
  orgId: string
  type: string
  version: number
  workspaceId: string | null
  actor: EventActor
  subject: { type: string; id: string }
  ownerId: string | null
  position: number
  sequence: number
  occurredAt: string
  chainId: string
  depth: number
  data: Record<string, unknown>
}

const lookUpById = (ofOrg: string) => `
  select asked.place, found.record
  from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (org_id, id, place)
    cross join lateral (
      select json_build_object('id', e.id, 'orgId', e.org_id, 'type', e.type, 'version', e.version,
        'workspaceId', e.workspace_id,
        'actor', e.actor, 'subject', json_build_object('type', e.subject_type, 'id', e.subject_id),
        'ownerId', e.owner_id, 'position', e.position, 'sequence', e.sequence,
        'occurredAt', to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'chainId', e.chain_id, 'depth', e.depth, 'data', e.data)::text as record
      from events e
      where e.org_id = asked.org_id ${ofOrg} and e.id = asked.id
      limit 1
    ) found
  where ${keysAsked}`

/** What these events of the log are about, and what decides who may read them. */
export const listSubjects = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<Pick<EventRow, 'id' | 'type' | 'workspaceId' | 'ownerId' | 'subjectType' | 'subjectId' | 'data'>>(sql`
    select id, type, workspace_id, owner_id, subject_type, subject_id, data from events where org_id = ${orgId} and id = any(${ids}::uuid[])`)

const readById: LookUp = { text: lookUpById(''), ofOrg: lookUpById('and e.org_id = $3') }

export const findLoggedEvent = async (db: Db, orgId: string, id: string): Promise<LoggedEvent | undefined> => {
  const found = await db.lookUp(readById, [orgId, id])
  return found === undefined ? undefined : (JSON.parse(found) as LoggedEvent)
}
