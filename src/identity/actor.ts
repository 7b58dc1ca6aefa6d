import { forbidden } from '../platform/errors.ts'
import type { Permission, Role } from './permissions.ts'

/** Who is calling, in which org and workspace, and what they may do: the second argument of every rule and query. */
export interface Actor {
  readonly orgId: string
  readonly orgName: string
  readonly userId: string
  readonly userName: string
  readonly email: string
  readonly role: Role
  readonly permissions: ReadonlySet<Permission>
  /** The workspace of this call. Null when none was named and the user is not in the org's default one. */
  readonly workspaceId: string | null
  readonly apiKey: { readonly id: string; readonly name: string; readonly scopes: readonly string[] } | null
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `public`: no key needed. `member`: any valid key. Else the permission that the caller must have. */
    access?: 'public' | 'member' | Permission
  }
  interface FastifyRequest {
    /** Set on every route that is not public. */
    actor: Actor
  }
}

/** The workspace of the call, for what lives in one. FORBIDDEN when the caller is in none. */
export const workspaceOf = (actor: Actor): string => {
  if (actor.workspaceId === null) throw forbidden('You are not a member of any workspace that this call could use.')
  return actor.workspaceId
}

export const may = (actor: Actor, permission: Permission): boolean => actor.permissions.has(permission)
