import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { claimKey, findOrgOf, releaseKeys } from '../../platform/database/directory.ts'

export interface LinearBindingRow {
  orgId: string
  id: string
  organizationId: string
  organizationName: string
  connectionId: string
  boundBy: string
  createdAt: string
}

const columns = sql`org_id, id, organization_id, organization_name, connection_id, bound_by, created_at`

const releaseBindingKeys = async (db: Transaction, orgId: string, rows: LinearBindingRow[]): Promise<void> => {
  const keys = rows.map(({ organizationId }) => organizationId)
  if (keys.length > 0) await releaseKeys(db, 'linear', orgId, keys)
}

/** The org that receives the events of a Linear organization. */
export const findOrgOfLinear = async (db: Db, organizationId: string): Promise<{ orgId: string } | undefined> => {
  const orgId = await findOrgOf(db, 'linear', organizationId)
  if (orgId === undefined) return undefined
  return db.row<{ orgId: string }>(sql`
    select b.org_id from linear_bindings b join connections c on c.org_id = b.org_id and c.id = b.connection_id
    where b.org_id = ${orgId} and b.organization_id = ${organizationId} and c.deleted_at is null`)
}

/** Newest first. */
export const listBindings = (db: Db, orgId: string) =>
  db.rows<LinearBindingRow>(sql`
    select ${columns} from linear_bindings where org_id = ${orgId} order by created_at desc, id`)

/**
 * Whether the caller's connection is active and has this account. Locks it, so that it is neither revoked nor signed in
 * with another account before this transaction ends.
 */
export const lockActiveConnection = async (
  db: Transaction,
  actor: Actor,
  connectionId: string,
  accountId: string | null,
): Promise<boolean> =>
  (await db.row(sql`
    select 1 as one from connections
    where org_id = ${actor.orgId} and id = ${connectionId} and user_id = ${actor.userId} and status = 'active'
      and account_id is not distinct from ${accountId}::text
    for share`)) !== undefined

/**
 * Deletes the binding of another org whose connection is no longer active and therefore proves nothing. Locks the
 * organization's entry in the directory, so that two orgs cannot bind it at the same time.
 */
export const deleteStaleBindings = async (
  db: Transaction,
  organizationId: string,
  exceptOrgId: string,
): Promise<LinearBindingRow[]> => {
  const orgId = await claimKey(db, 'linear', organizationId, exceptOrgId)
  if (orgId === exceptOrgId) return []
  const rows = await db.rows<LinearBindingRow>(sql`
    delete from linear_bindings b using connections c
    where b.org_id = ${orgId} and b.organization_id = ${organizationId}
      and c.org_id = b.org_id and c.id = b.connection_id and c.status <> 'active'
    returning b.org_id, b.id, b.organization_id, b.organization_name, b.connection_id, b.bound_by, b.created_at`)
  const left = await db.row(sql`
    select 1 as one from linear_bindings where org_id = ${orgId} and organization_id = ${organizationId}`)
  if (!left) await releaseKeys(db, 'linear', orgId, [organizationId])
  return rows
}

/** Inserts a binding or renews the org's own. Undefined if the organization is bound to another org. */
export const insertBinding = async (
  db: Transaction,
  binding: Omit<LinearBindingRow, 'createdAt'>,
): Promise<LinearBindingRow | undefined> => {
  const { organizationId, orgId } = binding
  if ((await claimKey(db, 'linear', organizationId, orgId)) !== orgId) return undefined
  return db.row<LinearBindingRow>(sql`
    insert into linear_bindings as b (org_id, id, organization_id, organization_name, connection_id, bound_by)
    values (${binding.orgId}, ${binding.id}, ${binding.organizationId}, ${binding.organizationName},
      ${binding.connectionId}, ${binding.boundBy})
    on conflict (org_id, organization_id) do update
    set organization_name = excluded.organization_name, connection_id = excluded.connection_id,
      bound_by = excluded.bound_by
    returning ${columns}`)
}

export const deleteBinding = async (
  db: Transaction,
  orgId: string,
  id: string,
): Promise<LinearBindingRow | undefined> => {
  const row = await db.row<LinearBindingRow>(sql`
    delete from linear_bindings where org_id = ${orgId} and id = ${id} returning ${columns}`)
  if (row) await releaseBindingKeys(db, orgId, [row])
  return row
}

/** Deletes the bindings that a connection proved, except that of `keptOrganizationId`. */
export const deleteBindingsOf = async (
  db: Transaction,
  orgId: string,
  connectionId: string,
  keptOrganizationId: string | null,
): Promise<LinearBindingRow[]> => {
  const rows = await db.rows<LinearBindingRow>(sql`
    delete from linear_bindings where org_id = ${orgId} and connection_id = ${connectionId}
      and organization_id is distinct from ${keptOrganizationId}::text
    returning ${columns}`)
  await releaseBindingKeys(db, orgId, rows)
  return rows
}
