import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { EndpointSettings } from '../receivers/receiver.ts'

export interface EndpointRow {
  orgId: string
  id: string
  provider: string
  connectionId: string
  userId: string
  workspaceId: string
  agentId: string | null
  status: 'pending' | 'active' | 'closed'
  url: string
  secret: string | null
  settings: EndpointSettings
  createdAt: string
}

const columns = sql`e.org_id, e.id, e.provider, e.connection_id, e.user_id, e.workspace_id, e.agent_id, e.status, e.url, e.secret,
  e.settings, e.created_at`

/** An endpoint that takes events: active, and its connection is there. */
export const findOpenEndpoint = (db: Db, id: string) =>
  db.row<EndpointRow>(sql`
    -- all orgs: the public path names the endpoint and nothing else
    select ${columns} from connector_endpoints e
      join connections c on c.org_id = e.org_id and c.id = e.connection_id
    where e.id = ${id} and e.status = 'active' and c.deleted_at is null`)

/** The endpoint of work in the background, while its connection is there; what it took is answered though it is closed. */
export const findEndpoint = (db: Db, orgId: string, id: string) =>
  db.row<EndpointRow>(sql`
    select ${columns} from connector_endpoints e
      join connections c on c.org_id = e.org_id and c.id = e.connection_id
    where e.org_id = ${orgId} and e.id = ${id} and e.status <> 'pending' and c.deleted_at is null`)

/** Those of one connection, newest first. */
export const listEndpoints = (db: Db, orgId: string, connectionId: string) =>
  db.rows<EndpointRow>(sql`
    select ${columns} from connector_endpoints e
    where e.org_id = ${orgId} and e.connection_id = ${connectionId}
    order by e.created_at desc, e.id desc`)

export type NewEndpoint = Omit<EndpointRow, 'status' | 'createdAt'>

/** An endpoint that takes nothing yet. */
export const insertEndpoint = (db: Db, endpoint: NewEndpoint) =>
  db.execute(sql`
    insert into connector_endpoints (org_id, id, provider, connection_id, user_id, workspace_id, agent_id, status, url,
      secret, settings)
    values (${endpoint.orgId}, ${endpoint.id}, ${endpoint.provider}, ${endpoint.connectionId}, ${endpoint.userId},
      ${endpoint.workspaceId}, ${endpoint.agentId}, 'pending', ${endpoint.url}, ${endpoint.secret},
      ${JSON.stringify(endpoint.settings)})`)

/** Lets it take events, proven by the secret that the provider knows by now. */
export const activateEndpoint = (
  db: Db,
  orgId: string,
  id: string,
  { secret, settings }: Pick<EndpointRow, 'secret' | 'settings'>,
) =>
  db.execute(sql`
    update connector_endpoints set status = 'active', secret = ${secret}, settings = ${JSON.stringify(settings)}
    where org_id = ${orgId} and id = ${id}`)

/** Takes the endpoint away with its events and chats; their sessions stay. */
export const deleteEndpoint = (db: Db, orgId: string, id: string) =>
  db.execute(sql`delete from connector_endpoints where org_id = ${orgId} and id = ${id}`)

/** Closes the one at an address that another one of the connection takes the place of. */
export const closeEndpointAt = (db: Db, orgId: string, connectionId: string, url: string) =>
  db.execute(sql`
    update connector_endpoints set status = 'closed'
    where org_id = ${orgId} and connection_id = ${connectionId} and url = ${url}`)

const connectionIsGone = sql`exists (
  select from connections c where c.org_id = e.org_id and c.id = e.connection_id and c.deleted_at is not null)`

/** Forgets what providers prove themselves by to connections that were deleted. */
export const wipeOrphans = (db: Db) =>
  db.execute(sql`
    -- all orgs: time passes everywhere
    update connector_endpoints e set status = 'closed', secret = null where e.secret is not null and ${connectionIsGone}`)

/** Takes away what a setup that was killed left behind, and the endpoints of deleted connections when they are empty. */
export const deleteAbandoned = (db: Db) =>
  db.execute(sql`
    -- all orgs: time passes everywhere
    delete from connector_endpoints e
    where (e.status = 'pending' and e.created_at < now() - interval '1 hour')
      or (${connectionIsGone} and not exists (
        select from connector_events v where v.org_id = e.org_id and v.endpoint_id = e.id))`)

/** A connection by its id alone, for a person at the server's terminal. */
export const findConnectionById = (db: Db, id: string) =>
  db.row<{
    orgId: string
    id: string
    userId: string
    connectorSlug: string
    status: string
  }>(sql`
    -- all orgs: the command names the connection and nothing else
    select org_id, id, user_id, connector_slug, status from connections
    where id = ${id} and deleted_at is null`)
