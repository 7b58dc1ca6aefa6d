import { isMember } from '../../identity/sign-in/user-authority.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { claimKey, expireKeys, findOrgOf } from '../../platform/database/directory.ts'

interface NewState {
  id: string
  connectionId: string
  userId: string
  hash: Buffer
  /** Sealed. */
  verifier: string
  redirectUri: string
  /** The client of a discovered authorization server, sealed. Null: the operator configured the client. */
  client: string | null
}

/** Time for the user to consent at the provider. */
const lifetime = sql`interval '10 minutes'`

/** A state in the directory: the text of a `bytea`. */
const keyOf = (hash: Buffer): string => `\\x${hash.toString('hex')}`

export const insertState = async (db: Transaction, orgId: string, state: NewState): Promise<void> => {
  await claimKey(db, 'oauth_state', keyOf(state.hash), orgId)
  await db.execute(sql`
    insert into oauth_states (org_id, id, connection_id, user_id, state_hash, verifier, redirect_uri, client, expires_at)
    values (${orgId}, ${state.id}, ${state.connectionId}, ${state.userId}, ${state.hash}, ${state.verifier},
      ${state.redirectUri}, ${state.client}, now() + ${lifetime})`)
}

/** Deletes all but the newest states of a connection. */
export const pruneStates = (db: Transaction, orgId: string, connectionId: string, keep: number) =>
  db.execute(sql`
    delete from oauth_states where org_id = ${orgId} and connection_id = ${connectionId} and id not in (
      select id from oauth_states where org_id = ${orgId} and connection_id = ${connectionId}
      order by expires_at desc, id desc limit ${keep})`)

export const deleteStates = (db: Transaction, orgId: string, connectionId: string) =>
  db.execute(sql`delete from oauth_states where org_id = ${orgId} and connection_id = ${connectionId}`)

export const expireStates = async (db: Db): Promise<void> => {
  await db.execute(sql`
    -- all orgs: a periodic job
    delete from oauth_states where expires_at <= now()`)
  // Here instead of with each deleted state: an entry without its state identifies nothing.
  await expireKeys(db, 'oauth_state', 3_600)
}

/** The connection that a state completes, and its owner. */
export interface PendingFlow {
  orgId: string
  /** Of the state. */
  id: string
  orgName: string
  connectionId: string
  connectorSlug: string
  userId: string
  userName: string
  email: string
  redirectUri: string
  /** Sealed, as in the state. */
  client: string | null
}

export const findFlow = async (db: Db, hash: Buffer): Promise<PendingFlow | undefined> => {
  const orgId = await findOrgOf(db, 'oauth_state', keyOf(hash))
  if (orgId === undefined) return undefined
  const state = await db.row<Omit<PendingFlow, 'orgName' | 'userName' | 'email'>>(sql`
    select s.org_id, s.id, s.client, s.redirect_uri, s.connection_id, c.connector_slug, s.user_id
    from oauth_states s join connections c on c.org_id = s.org_id and c.id = s.connection_id and c.deleted_at is null
    where s.org_id = ${orgId} and s.state_hash = ${hash} and s.expires_at > now()`)
  if (!state) return undefined
  // Apart from the state, which is on another server than the people where tables are distributed.
  const owner = await db.row<Pick<PendingFlow, 'orgName' | 'userName' | 'email'>>(sql`
    select o.name as org_name, m.name as user_name, u.email
    from orgs o join users u on u.id = ${state.userId}
      join members m on m.org_id = o.id and m.user_id = u.id
    where o.id = ${orgId}`)
  return owner && { ...state, ...owner }
}

export interface ConsumedState {
  orgId: string
  id: string
  connectionId: string
  userId: string
  verifier: string
  redirectUri: string
  client: string | null
}

export interface StateOwner {
  orgId: string
  connectionId: string
  userId: string
}

/**
 * Deletes and returns the state, so that it can be used once. With `owner`, only if it belongs to this connection.
 * Undefined when its person has left the org.
 */
export const consumeState = async (db: Db, hash: Buffer, owner?: StateOwner): Promise<ConsumedState | undefined> => {
  const orgId = await findOrgOf(db, 'oauth_state', keyOf(hash))
  if (orgId === undefined || (owner && owner.orgId !== orgId)) return undefined
  const isOwned = owner ? sql`and connection_id = ${owner.connectionId} and user_id = ${owner.userId}` : sql``
  const state = await db.row<ConsumedState>(sql`
    delete from oauth_states where org_id = ${orgId} and state_hash = ${hash} and expires_at > now() ${isOwned}
    returning org_id, id, connection_id, user_id, verifier, redirect_uri, client`)
  return state && (await isMember(db, orgId, state.userId)) ? state : undefined
}
