import type pg from 'pg'
import { sqlState } from './errors.ts'

/** The role that the policies apply to; migrations create it. */
export const tenantRole = 'atrium_tenant'

/**
 * The scope of a transaction. `{ orgId }` (such as an Actor): uses the role of the row-level security policies, so that
 * rows of other orgs can be neither read nor written. `'all orgs'`: uses the owner of the tables, for sign-in, the server
 * itself and its commands.
 */
export type TransactionScope = { readonly orgId: string } | 'all orgs'

/** Whether the database user can use the role `atrium_tenant`. Cached after the first response of the database. */
export const findsTenantRole = (pool: pg.Pool): (() => Promise<boolean>) => {
  let known: Promise<boolean> | undefined
  const ask = async (): Promise<boolean> => {
    const client = await pool.connect()
    try {
      await client.query(`begin; set local role ${tenantRole}; select 1 from orgs limit 1`)
      return true
    } catch (error) {
      // The role or a privilege is missing. Other errors do not prove that.
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

/** One message with `begin`, so that the scope costs no round trip. It ends with the transaction. */
export const beginning = (scope: TransactionScope, hasTenantRole: boolean): string => {
  if (scope === 'all orgs') return 'begin'
  const { orgId } = scope
  // `set local` does not accept parameters.
  if (!uuid.test(orgId)) throw new Error('the org of a transaction must be a UUID')
  return hasTenantRole ? `begin; set local role ${tenantRole}; set local atrium.org = '${orgId}'` : 'begin'
}

/** Rejects statements marked `-- all orgs`, which would silently see the rows of one org only. */
export const rejectAllOrgs = (text: string): void => {
  if (text.includes('-- all orgs')) throw new Error("a statement across orgs needs a transaction of scope 'all orgs'")
}
