import type { Actor } from '../identity/actor.ts'
import type { Permission } from '../identity/permissions.ts'
import { seesAllWorkspaces } from '../identity/permissions.ts'
import type { Reader } from '../files/files.ts'
import type { Standing } from '../identity/sign-in/user-authority.ts'
import { listWorkspaceIds } from '../identity/members/workspaces.ts'
import { badRequest, forbidden } from '../platform/http/errors.ts'
import type { Db } from '../platform/database/database.ts'
import { eventTypes } from '../outbox/catalog.ts'
import type { EventDefinition } from '../outbox/define.ts'

/** The events that a caller may read. */
export interface Visibility {
  /** Types whose area the caller may read. */
  types: ReadonlySet<string>
  /** Types of which the caller may read the events of what is theirs. */
  ownTypes: ReadonlySet<string>
  userId: string
  /** The workspaces of the caller; null: all of the org. Events without a workspace are visible to every member. */
  workspaceIds: ReadonlySet<string> | null
  /** Decides which files are open to the caller. */
  reader: Reader
}

const definitions = Object.entries(eventTypes) as [string, EventDefinition][]

type RightsHolder = Pick<Actor, 'permissions' | 'userId'>

const typesWhere = (isReadable: (definition: EventDefinition) => boolean): Set<string> =>
  new Set(definitions.filter(([, definition]) => isReadable(definition)).map(([type]) => type))

const rightsOf = ({ userId, permissions }: RightsHolder): Pick<Visibility, 'types' | 'ownTypes' | 'userId'> => {
  const mayRead = (area: string): boolean => permissions.has(`${area}:read` as Permission)
  return {
    types: typesWhere(({ area, owner }) => owner?.isOnlyReader !== true && mayRead(area)),
    ownTypes: typesWhere(({ owner }) => owner !== undefined && mayRead(owner.area)),
    userId,
  }
}

/** Whether the caller may read some events of a type. */
export const seesSome = ({ types, ownTypes }: Pick<Visibility, 'types' | 'ownTypes'>, type: string): boolean =>
  types.has(type) || ownTypes.has(type)

export const visibilityOf = async (db: Db, actor: Reader & Pick<Actor, 'permissions'>): Promise<Visibility> => ({
  ...rightsOf(actor),
  reader: actor,
  workspaceIds: seesAllWorkspaces(actor.role) ? null : new Set(await listWorkspaceIds(db, actor.orgId, actor.userId)),
})

/** The same for a person whose workspaces are known. */
export const visibilityOfStanding = (
  orgId: string,
  { userId, permissions, role, workspaceIds }: Standing,
): Visibility => ({
  ...rightsOf({ userId, permissions }),
  reader: { orgId, userId, role, workspaceIds },
  workspaceIds: seesAllWorkspaces(role) ? null : new Set(workspaceIds),
})

export const isVisible = (
  { types, ownTypes, userId, workspaceIds }: Visibility,
  event: { type: string; workspaceId: string | null; ownerId: string | null },
): boolean =>
  (types.has(event.type) || (ownTypes.has(event.type) && event.ownerId === userId)) &&
  (event.workspaceId === null || workspaceIds === null || workspaceIds.has(event.workspaceId))

/** FORBIDDEN for a pattern none of whose types the caller may read. */
export const requireReadable = (actor: RightsHolder, patterns: readonly string[]): void => {
  const rights = rightsOf(actor)
  const readable = [...rights.types, ...rights.ownTypes]
  for (const pattern of patterns) {
    if (!readable.some((type) => matches(pattern, type))) {
      throw forbidden(`You may not read events of the type ${pattern}.`)
    }
  }
}

/** FORBIDDEN for a type that the caller may not read. */
export const requireReadableType = (actor: RightsHolder, type: string): void => {
  if (!seesSome(rightsOf(actor), type)) throw forbidden(`You may not read events of the type ${type}.`)
}

/** Whether a pattern names a type: the type itself, `file.*` for those of an area, or `*`. */
export const matches = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

const maxPatterns = 50

/** BAD_REQUEST for a pattern that matches no type of the catalog: it is a spelling mistake. */
export const checkPatterns = (patterns: readonly string[]): string[] => {
  const clean = [...new Set(patterns.map((pattern) => pattern.trim()))]
  if (clean.length > maxPatterns) throw badRequest(`types must name at most ${maxPatterns} types`)
  for (const pattern of clean) {
    if (!definitions.some(([type]) => matches(pattern, type))) {
      throw badRequest(`types: ${pattern} matches no event type; GET /event-types lists them`)
    }
  }
  return clean
}

export const matchesAny = (patterns: readonly string[], type: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => matches(pattern, type))
