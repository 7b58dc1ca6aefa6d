import { isMember } from '../../identity/sign-in/user-authority.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { claimKey, recallOrgOf, releaseKeys } from '../../platform/database/directory.ts'

/** The settings of an endpoint that are not secret. Stored as JSON. */
export interface EndpointSettings {
  /** Discord: the application's public key, 64 hexadecimal digits. */
  publicKey?: string
  /** Gmail: the service account that pushes. */
  serviceAccount?: string
  /** The accounts that the agent writes with: their messages start no turn. */
  ownIds?: string[]
  /** The provider's resource that the webhook is for: a repository, a phone number. */
  target?: string
  /** The provider's id of the webhook, for deleting it. */
  remoteId?: string
}

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

// People are on another server than endpoints where tables are distributed, so this is a query of its own.
const ofMember = async <Row extends EndpointRow>(db: Db, endpoint: Row | undefined): Promise<Row | undefined> =>
  endpoint && (await isMember(db, endpoint.orgId, endpoint.userId)) ? endpoint : undefined

/** With the account of its connection at the provider. */
export interface OpenEndpointRow extends EndpointRow {
  accountId: string | null
  accountName: string | null
}

/** An endpoint that receives events: it is active, its connection is not deleted, and its person is a member. */
export const findOpenEndpoint = async (db: Db, id: string): Promise<OpenEndpointRow | undefined> => {
  const orgId = await recallOrgOf(db, 'endpoint', id)
  if (orgId === undefined) return undefined
  const row = await db.row<OpenEndpointRow>(sql`
    select ${columns}, c.account_id, c.account_name from connector_endpoints e
      join connections c on c.org_id = e.org_id and c.id = e.connection_id
    where e.org_id = ${orgId} and e.id = ${id} and e.status = 'active' and c.deleted_at is null`)
  return ofMember(db, row)
}

/**
 * The endpoint of a background job. It may be closed, because messages that were already received still get a reply.
 */
export const findEndpoint = async (db: Db, orgId: string, id: string): Promise<EndpointRow | undefined> => {
  const row = await db.row<EndpointRow>(sql`
    select ${columns} from connector_endpoints e
      join connections c on c.org_id = e.org_id and c.id = e.connection_id
    where e.org_id = ${orgId} and e.id = ${id} and e.status <> 'pending' and c.deleted_at is null`)
  return ofMember(db, row)
}

/** The endpoints of a connection, newest first. */
export const listEndpoints = (db: Db, orgId: string, connectionId: string) =>
  db.rows<EndpointRow>(sql`
    select ${columns} from connector_endpoints e
    where e.org_id = ${orgId} and e.connection_id = ${connectionId}
    order by e.created_at desc, e.id desc`)

export type NewEndpoint = Omit<EndpointRow, 'status' | 'createdAt'>

/** Inserts an endpoint that does not receive events yet. */
export const insertEndpoint = async (db: Transaction, endpoint: NewEndpoint): Promise<void> => {
  await claimKey(db, 'endpoint', endpoint.id, endpoint.orgId)
  await db.execute(sql`
    insert into connector_endpoints (org_id, id, provider, connection_id, user_id, workspace_id, agent_id, status, url,
      secret, settings)
    values (${endpoint.orgId}, ${endpoint.id}, ${endpoint.provider}, ${endpoint.connectionId}, ${endpoint.userId},
      ${endpoint.workspaceId}, ${endpoint.agentId}, 'pending', ${endpoint.url}, ${endpoint.secret},
      ${JSON.stringify(endpoint.settings)})`)
}

/** Makes an endpoint receive events, verified with the secret that the provider has by now. */
export const activateEndpoint = (
  db: Db,
  orgId: string,
  id: string,
  { secret, settings }: Pick<EndpointRow, 'secret' | 'settings'>,
) =>
  db.execute(sql`
    update connector_endpoints set status = 'active', secret = ${secret}, settings = ${JSON.stringify(settings)}
    where org_id = ${orgId} and id = ${id}`)

/** Deletes an endpoint with its events and chats; their sessions stay. */
export const deleteEndpoint = async (db: Transaction, orgId: string, id: string): Promise<void> => {
  await db.execute(sql`delete from connector_events where org_id = ${orgId} and endpoint_id = ${id}`)
  await db.execute(sql`delete from connector_endpoints where org_id = ${orgId} and id = ${id}`)
  await releaseKeys(db, 'endpoint', orgId, [id])
}

/** Closes the endpoint at a URL, when another endpoint of the connection replaces it. */
export const closeEndpointAt = (db: Db, orgId: string, connectionId: string, url: string) =>
  db.execute(sql`
    update connector_endpoints set status = 'closed'
    where org_id = ${orgId} and connection_id = ${connectionId} and url = ${url}`)

const connectionIsGone = sql`exists (
  select from connections c where c.org_id = e.org_id and c.id = e.connection_id and c.deleted_at is not null)`

/** Deletes the secrets of the endpoints of deleted connections. */
export const wipeOrphans = (db: Db) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    update connector_endpoints e set status = 'closed', secret = null where e.secret is not null and ${connectionIsGone}`)

/** Deletes endpoints of setups that were killed, and those of deleted connections that have no recent events. */
export const deleteAbandoned = async (db: Db): Promise<void> => {
  const rows = await db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: an hourly job of the server
    delete from connector_endpoints e
    where (e.status = 'pending' and e.created_at < now() - interval '1 hour')
      or (${connectionIsGone} and not exists (
        select from connector_event_keys k where k.org_id = e.org_id and k.endpoint_id = e.id))
    returning e.org_id, e.id`)
  for (const { orgId, id } of rows) await releaseKeys(db, 'endpoint', orgId, [id])
}

/** A connection by its id alone, for the command line of the server. */
export const findConnectionById = (db: Db, id: string) =>
  db.row<{
    orgId: string
    id: string
    userId: string
    connectorSlug: string
    status: string
  }>(sql`
    -- all orgs: the command has the connection's id only
    select org_id, id, user_id, connector_slug, status from connections
    where id = ${id} and deleted_at is null`)
