import type { FastifyRequest } from 'fastify'
import type { EntryRow } from '../../files/files.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { failedPrecondition } from './errors.ts'
import { isTrue, readIfHeader, tokensIn } from './locks/if-header.ts'
import type { ConditionList, ResourceState } from './locks/if-header.ts'
import { locksOn, tokenOf } from './locks/locks.ts'
import { listLocks } from './locks/queries.ts'
import { findTarget, namesOfReference } from './paths.ts'
import type { Target } from './paths.ts'

/** The half of the hash of a file's bytes that is their entity tag: some clients have 200 characters for an If header. */
export const tagOfHash = (contentHash: string): string => contentHash.slice(0, 32)

/** The entity tag of the bytes of a file. Folders have none. */
export const etagOfEntry = (entry: EntryRow | undefined): string | undefined =>
  entry === undefined || entry.source === 'folder' || entry.contentHash === null
    ? undefined
    : `"${tagOfHash(entry.contentHash)}"`

const textOf = (header: string | string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header)

const hasTag = (header: string, etag: string | undefined, exists: boolean): boolean =>
  header.trim() === '*' ? exists : header.split(',').some((tag) => tag.trim() === etag)

/** Throws 412 when `If-Match` or `If-None-Match` of a request that changes something does not hold. */
const checkTags = ({ headers }: FastifyRequest, { entry, exists }: Target): void => {
  const etag = etagOfEntry(entry)
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined && !hasTag(ifMatch, etag, exists)) throw failedPrecondition('If-Match does not match.')
  if (ifNoneMatch !== undefined && hasTag(ifNoneMatch, etag, exists)) throw failedPrecondition('If-None-Match matches.')
}

export interface ConditionDeps {
  db: Db
  baseUrl: string | undefined
}

const targetOfList = async (
  { db, baseUrl }: ConditionDeps,
  request: FastifyRequest,
  resource: string,
): Promise<Target | undefined> => {
  try {
    return await findTarget(db, request.actor, namesOfReference(resource, request, baseUrl))
  } catch (error) {
    // A resource of another server has no state here.
    if (error instanceof ApiError) return undefined
    throw error
  }
}

const statesOf = async (
  deps: ConditionDeps,
  request: FastifyRequest,
  target: Target,
  lists: readonly ConditionList[],
): Promise<ResourceState[]> => {
  const { actor } = request
  const locks = await listLocks(deps.db, actor)
  const known = new Map<string | undefined, ResourceState>()
  const states: ResourceState[] = []
  for (const { resource } of lists) {
    let state = known.get(resource)
    if (!state) {
      const named = resource === undefined ? target : await targetOfList(deps, request, resource)
      const tokens = new Set(named?.exists === true ? locksOn(locks, named.chain).map(tokenOf) : [])
      state = { etag: etagOfEntry(named?.entry), tokens }
      known.set(resource, state)
    }
    states.push(state)
  }
  return states
}

/**
 * Checks the conditions of a request: `If`, `If-Match` and `If-None-Match`. Returns the lock tokens that it submits. Throws
 * 412 when they do not hold.
 */
export const checkConditions = async (
  deps: ConditionDeps,
  request: FastifyRequest,
  target: Target,
): Promise<ReadonlySet<string>> => {
  checkTags(request, target)
  const header = textOf(request.headers['if'])
  if (header === undefined) return new Set()
  const lists = readIfHeader(header)
  if (!isTrue(lists, await statesOf(deps, request, target, lists)))
    throw failedPrecondition('No list of the If header is true.')
  return tokensIn(lists)
}

export type Depth = '0' | '1' | 'infinity'

/** The header `Depth`, by default infinity. Throws BAD_REQUEST for a value that the method does not have. */
export const depthOf = ({ headers, method }: FastifyRequest, allowed: readonly Depth[]): Depth => {
  const depth = (textOf(headers['depth']) ?? 'infinity').trim().toLowerCase()
  const found = allowed.find((one) => one === depth)
  if (found === undefined) throw badRequest(`Depth of ${method} must be ${allowed.join(' or ')}.`)
  return found
}
