import { forbidden } from '../platform/http/errors.ts'
import type { Permission, Role } from './permissions.ts'

/** The request that made a change, for the audit log. */
export interface Origin {
  /** The client address. */
  readonly ip: string
  readonly requestId: string
}

/** The caller, their org, workspace and permissions: the second argument of every rule and query. */
export interface Actor {
  readonly orgId: string
  readonly orgName: string
  /** The IANA time zone of the org. Null: UTC. */
  readonly timeZone: string | null
  readonly userId: string
  readonly userName: string
  readonly email: string
  readonly role: Role
  readonly permissions: ReadonlySet<Permission>
  /** The workspace of the request. Null when it names none and the user is not in the org's default workspace. */
  readonly workspaceId: string | null
  /** The workspaces that the person was added to, which can open folders to them. */
  readonly workspaceIds: readonly string[]
  /** Null for a person who signed in to the console. */
  readonly apiKey: {
    readonly id: string
    readonly name: string
    readonly scopes: readonly string[]
    /** Milliseconds since 1970; Infinity for a key that does not expire. */
    readonly expiresAtMs: number
  } | null
  /** Null on GET and HEAD, whose actors are shared between requests. */
  readonly origin: Origin | null
}

/** The author of a change in the audit log: an Actor, or the server and its commands, which have no user. */
export interface AuditActor {
  readonly orgId: string
  readonly userId: string | null
  readonly userName: string
  readonly apiKey: { readonly id: string } | null
  readonly origin: Origin | null
}

/** The author of changes by the server itself or by a command of the operator. */
export const systemActor = (orgId: string, name: string): AuditActor => ({
  orgId,
  userId: null,
  userName: name,
  apiKey: null,
  origin: null,
})

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `public`: no authentication. `member`: any member. Else the permission that the caller must have. */
    access?: 'public' | 'member' | Permission
    /** Of a public route: the permission of a request without `token` in its query, which is authenticated as elsewhere. */
    accessWithoutToken?: Permission
    /** Whether the access tokens of authorized apps are accepted, besides API keys and sessions. */
    acceptsApps?: boolean
    /**
     * For programs that know a user name and a password only: an API key is accepted as the password of HTTP Basic
     * (RFC 7617), besides Bearer, and a session is not, so that no page of a browser can use it.
     */
    acceptsBasic?: true
  }
  interface FastifyRequest {
    /** Set on every route that is not `public`. */
    actor: Actor
  }
}

/** The workspace of the request. Throws FORBIDDEN when there is none. */
export const workspaceOf = (actor: Actor): string => {
  if (actor.workspaceId === null) throw forbidden('You are not a member of a workspace that this request could use.')
  return actor.workspaceId
}

export const may = (actor: Actor, permission: Permission): boolean => actor.permissions.has(permission)
