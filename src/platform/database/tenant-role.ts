import type pg from 'pg'
import { sqlState } from './errors.ts'

/** The role that the policies apply to; migrations create it. */
export const tenantRole = 'atrium_tenant'

/**
 * For whom a transaction works. `{ orgId }` (an Actor, for instance): as the role that the policies of the tables apply
 * to, so that rows of other orgs can be neither seen nor written, whatever a statement says. `'all orgs'`: as the owner
 * of the tables, for what sign-in, the server itself and its commands do across orgs.
 */
export type TransactionScope = { readonly orgId: string } | 'all orgs'

/** Whether this connection's user can act as `atrium_tenant`. Settled by the first answer that the database gives. */
export const findsTenantRole = (pool: pg.Pool): (() => Promise<boolean>) => {
  let known: Promise<boolean> | undefined
  const ask = async (): Promise<boolean> => {
    const client = await pool.connect()
    try {
      await client.query(`begin; set local role ${tenantRole}; select 1 from orgs limit 1`)
      return true
    } catch (error) {
      // The role, the right to take it or a privilege is missing; anything else says nothing about it.
      if (['22023', '42501', '42704', '42P01'].includes(sqlState(error) ?? '')) return false
      throw error
    } finally {
      const broken = await client.query('rollback').then(
        () => undefined,
        (error: Error) => error,
      )
      client.release(broken)
    }
  }
  return () =>
    (known ??= ask().catch((error: unknown) => {
      known = undefined
      throw error
    }))
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** One message, so that the scope costs no further round trip. It ends with the transaction. */
export const beginning = (scope: TransactionScope, hasTenantRole: boolean): string => {
  if (scope === 'all orgs') return 'begin'
  const { orgId } = scope
  // It cannot be a parameter here.
  if (!uuid.test(orgId)) throw new Error('the org of a transaction must be a UUID')
  return hasTenantRole ? `begin; set local role ${tenantRole}; set local atrium.org = '${orgId}'` : 'begin'
}

/** A statement that says of itself that it reads or writes rows of all orgs would silently see those of one. */
export const rejectAllOrgs = (text: string): void => {
  if (text.includes('-- all orgs')) throw new Error("a statement across orgs needs a transaction of scope 'all orgs'")
}
