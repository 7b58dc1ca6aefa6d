import { coalesce } from '../platform/database/batching/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import { forbidden, unauthorized } from '../platform/http/errors.ts'
import type { ApiError } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { hexHashOfKey, isAccessToken, isWellFormedKey } from '../platform/key-format.ts'
import type { KeyEnvironment } from '../platform/key-format.ts'
import type { Actor } from './actor.ts'
import { effectivePermissions, seesAllWorkspaces } from './permissions.ts'
import * as queries from './queries.ts'

/** Finds the actor of an API key. */
export interface ApiKeyAuthority {
  /**
   * The current actor of an API key, in the named workspace, else in the key's default one. UNAUTHORIZED for an unknown,
   * revoked or expired key is returned, not thrown, because anybody can send such keys and throwing takes longer; a key
   * with a wrong prefix, environment or checksum is rejected without a query. Throws FORBIDDEN for a workspace that the
   * user is not in.
   */
  actorOf(key: string, workspaceId: string | undefined): ApiError | Promise<Actor | ApiError>
}

export interface AuthorityOptions {
  keyEnvironment: KeyEnvironment
  /** Milliseconds since 1970. Cached keys expire by this clock. */
  now?: () => number
  onError: (error: unknown) => void
}

interface Identity {
  actor: Actor
  expiresAtMs: number
  /** The actor in each workspace that was named so far; undefined when the user has no access. */
  inWorkspace: Map<string, Actor | undefined>
}

const maxKnownKeys = 10_000
const maxWorkspacesOfKey = 100
const touchEveryMs = 600_000

// Created once, because capturing a stack for every rejected request is expensive.
const malformedKey = unauthorized('Send an API key of this environment as "Authorization: Bearer <key>".')
const unknownKey = unauthorized('The API key is invalid: it is unknown, revoked or expired.')
/** The same error for a workspace of another org, a missing or malformed id, and one that the caller is not in. */
export const noWorkspaceAccess = forbidden('You are not a member of this workspace, or it does not exist.')

const toIdentity = (row: queries.IdentityRow): Identity => {
  const expiresAtMs = row.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(row.expiresAt)
  const actor: Actor = {
    orgId: row.orgId,
    orgName: row.orgName,
    timeZone: row.timeZone,
    userId: row.userId,
    userName: row.userName,
    email: row.email,
    role: row.role,
    permissions: effectivePermissions(row.role, row.scopes),
    workspaceId: row.workspaceId,
    workspaceIds: row.workspaceIds,
    apiKey: { id: row.apiKeyId, name: row.apiKeyName, scopes: row.scopes, expiresAtMs },
    origin: null,
  }
  return { actor, expiresAtMs, inWorkspace: new Map() }
}

/** Look-ups that arrive during one round trip share the next statement. Undefined for what `load` does not return. */
const batched = <Value>(
  load: (hashes: string[]) => Promise<Map<string, Value>>,
): ((hash: string) => Promise<Value | undefined>) => {
  let waiting = new Map<string, PromiseWithResolvers<Value | undefined>>()
  const run = coalesce(async () => {
    const batch = waiting
    waiting = new Map()
    try {
      const found = await load([...batch.keys()])
      for (const [hash, { resolve }] of batch) resolve(found.get(hash))
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  })
  return (hash) => {
    let answer = waiting.get(hash)
    if (answer === undefined) {
      answer = Promise.withResolvers()
      waiting.set(hash, answer)
      void run()
    }
    return answer.promise
  }
}

const setBounded = <K, V>(map: Map<K, V>, key: K, value: V, max: number): void => {
  const oldest = map.keys().next()
  if (map.size >= max && !map.has(key) && !oldest.done) map.delete(oldest.value)
  map.set(key, value)
}

/** A cache of the identities of keys that never returns a state from before the call. */
const rememberKeys = (db: Database) => {
  const known = new Map<string, Identity | undefined>()
  let seenEpoch = -1n

  const forgetChanged = async (epoch: bigint): Promise<void> => {
    if (known.size > 0) {
      const changed = new Set((await queries.orgsChangedSince(db.hot, seenEpoch)).map((org) => org.id))
      for (const [id, identity] of known) {
        if (identity === undefined || changed.has(identity.actor.orgId)) known.delete(id)
      }
    }
    seenEpoch = epoch
  }

  const refresh = coalesce(async () => {
    const row = await queries.currentEpoch(db.hot)
    if (row && row.epoch !== seenEpoch) await forgetChanged(row.epoch)
  })

  const load = batched(async (hashes) => {
    const found = new Map<string, Identity>()
    // Anybody can send keys that were never issued. One index tells them apart, at a fraction of the cost of the joins
    // that find identities.
    const issued = await queries.findIssuedKeys(db.hot, hashes)
    if (issued.length === 0) return found
    const rows = await queries.findKeyIdentities(
      db.hot,
      issued.map(({ hash }) => hash),
    )
    for (const row of rows) {
      const identity = row.orgId === null ? undefined : toIdentity(row)
      if (identity) found.set(row.hash, identity)
      // A result that was read before the last change must not be cached as if it came after it.
      if (row.epoch >= seenEpoch) setBounded(known, row.hash, identity, maxKnownKeys)
    }
    return found
  })

  const lookUpKnown = async (hash: string): Promise<Identity | undefined> => {
    await refresh()
    return known.has(hash) ? known.get(hash) : load(hash)
  }

  /** Undefined for a key that is revoked, expired or without a member, or was never issued. */
  return (hash: string): Promise<Identity | undefined> => (known.has(hash) ? lookUpKnown(hash) : load(hash))
}

/**
 * Authority without stale results (docs/decisions/0001-authority-by-epoch.md). Each process caches identities and, for
 * every request, reads the epoch of all authority after the request has arrived; entries of orgs that changed since are
 * dropped. A revocation, role change or removal therefore applies to every request that arrives after its commit.
 */
export const createAuthority = (db: Database, options: AuthorityOptions): ApiKeyAuthority => {
  const now = options.now ?? Date.now
  const identityOf = rememberKeys(db)
  const touched = new Map<string, number>()

  const touch = (actor: Actor): void => {
    const apiKeyId = actor.apiKey?.id
    if (apiKeyId === undefined || now() - (touched.get(apiKeyId) ?? 0) < touchEveryMs) return
    setBounded(touched, apiKeyId, now(), maxKnownKeys)
    queries.touchKey(db, actor.orgId, apiKeyId).catch(options.onError)
  }

  const inWorkspace = async (identity: Identity, workspaceId: string): Promise<Actor> => {
    if (!isUuid(workspaceId)) throw noWorkspaceAccess
    if (!identity.inWorkspace.has(workspaceId)) {
      const { actor } = identity
      const found = await queries.findWorkspaceAccess(db.hot, actor.orgId, actor.userId, workspaceId)
      const allowed = found && (seesAllWorkspaces(actor.role) || found.isMember)
      setBounded(identity.inWorkspace, workspaceId, allowed ? { ...actor, workspaceId } : undefined, maxWorkspacesOfKey)
    }
    const actor = identity.inWorkspace.get(workspaceId)
    if (!actor) throw noWorkspaceAccess
    return actor
  }

  const lookUp = async (key: string, workspaceId: string | undefined): Promise<Actor | ApiError> => {
    const identity = await identityOf(hexHashOfKey(key))
    if (!identity || identity.expiresAtMs <= now()) return unknownKey
    touch(identity.actor)
    if (workspaceId === undefined) return identity.actor
    const named = workspaceId.toLowerCase()
    // The person chose the workspace of the app.
    if (isAccessToken(key) && named !== identity.actor.workspaceId) throw noWorkspaceAccess
    return inWorkspace(identity, named)
  }

  return {
    actorOf: (key, workspaceId) =>
      isWellFormedKey(key, options.keyEnvironment) ? lookUp(key, workspaceId) : malformedKey,
  }
}
