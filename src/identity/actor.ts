import { forbidden } from '../platform/http/errors.ts'
import type { Permission, Role } from './permissions.ts'

/** Which request a change came with, for the audit log. */
export interface Origin {
  /** The caller's address. */
  readonly ip: string
  readonly requestId: string
}

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
  /** Null for a person who signed in to the console. */
  readonly apiKey: {
    readonly id: string
    readonly name: string
    readonly scopes: readonly string[]
    /** Milliseconds since 1970; infinite for a key that does not expire. */
    readonly expiresAtMs: number
  } | null
  /** Set on requests that may change something. Null on GET and HEAD, whose actors are shared between requests. */
  readonly origin: Origin | null
}

/** Whoever changes something, as the audit log tells it: an Actor, or the server and its commands, which are no user. */
export interface AuditActor {
  readonly orgId: string
  readonly userId: string | null
  readonly userName: string
  readonly apiKey: { readonly id: string } | null
  readonly origin: Origin | null
}

/** The server's own hand, or that of a person at its terminal. */
export const systemActor = (orgId: string, name: string): AuditActor => ({
  orgId,
  userId: null,
  userName: name,
  apiKey: null,
  origin: null,
})

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
