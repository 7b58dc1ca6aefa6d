import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'

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

/** The org that receives the events of a Linear organization. */
export const findOrgOfLinear = (db: Db, organizationId: string) =>
  db.row<{ orgId: string }>(sql`
    -- all orgs: an event contains the Linear organization only; the binding maps it to the org
    select b.org_id from linear_bindings b join connections c on c.org_id = b.org_id and c.id = b.connection_id
    where b.organization_id = ${organizationId} and c.deleted_at is null`)

/** Newest first. */
export const listBindings = (db: Db, orgId: string) =>
  db.rows<LinearBindingRow>(sql`
    select ${columns} from linear_bindings where org_id = ${orgId} order by created_at desc, id`)

/** Whether the caller's connection is active. Locks it, so that it is not revoked before this transaction ends. */
export const lockActiveConnection = async (db: Transaction, actor: Actor, connectionId: string): Promise<boolean> =>
  (await db.row(sql`
    select 1 as one from connections
    where org_id = ${actor.orgId} and id = ${connectionId} and user_id = ${actor.userId} and status = 'active'
    for share`)) !== undefined

/** Deletes the binding of another org whose connection is no longer active and therefore proves nothing. */
export const deleteStaleBindings = (db: Transaction, organizationId: string, exceptOrgId: string) =>
  db.rows<LinearBindingRow>(sql`
    -- all orgs: a Linear organization is bound to at most one org
    delete from linear_bindings b using connections c
    where b.organization_id = ${organizationId} and b.org_id <> ${exceptOrgId}
      and c.org_id = b.org_id and c.id = b.connection_id and c.status <> 'active'
    returning b.org_id, b.id, b.organization_id, b.organization_name, b.connection_id, b.bound_by, b.created_at`)

/** Inserts a binding or renews the org's own. Undefined if the organization is bound to another org. */
export const insertBinding = (db: Transaction, binding: Omit<LinearBindingRow, 'createdAt'>) =>
  db.row<LinearBindingRow>(sql`
    insert into linear_bindings as b (org_id, id, organization_id, organization_name, connection_id, bound_by)
    values (${binding.orgId}, ${binding.id}, ${binding.organizationId}, ${binding.organizationName},
      ${binding.connectionId}, ${binding.boundBy})
    on conflict (organization_id) do update
    set organization_name = excluded.organization_name, connection_id = excluded.connection_id,
      bound_by = excluded.bound_by
    where b.org_id = excluded.org_id
    returning ${columns}`)

export const deleteBinding = (db: Transaction, orgId: string, id: string) =>
  db.row<LinearBindingRow>(sql`
    delete from linear_bindings where org_id = ${orgId} and id = ${id} returning ${columns}`)

/** Deletes the bindings that a connection proved. */
export const deleteBindingsOf = (db: Transaction, orgId: string, connectionId: string) =>
  db.rows<LinearBindingRow>(sql`
    delete from linear_bindings where org_id = ${orgId} and connection_id = ${connectionId} returning ${columns}`)
