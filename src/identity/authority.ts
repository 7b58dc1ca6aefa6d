import { coalesce } from '../platform/database/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import { forbidden, unauthorized } from '../platform/http/errors.ts'
import type { ApiError } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { hashKey, isWellFormedKey } from '../platform/key-format.ts'
import type { KeyEnvironment } from '../platform/key-format.ts'
import type { Actor } from './actor.ts'
import { effectivePermissions, seesAllWorkspaces } from './permissions.ts'
import * as queries from './queries.ts'

/** Finds the actor of an API key. */
export interface ApiKeyAuthority {
  /**
   * The current actor of an API key, in the named workspace, else in the key's default one. Throws UNAUTHORIZED for an
   * unknown, revoked or expired key, and FORBIDDEN for a workspace that the user is not in. A key with a wrong prefix,
   * environment or checksum, or one known as never issued, is rejected without a query: the error is the return value.
   */
  actorOf(key: string, workspaceId: string | undefined): ApiError | Promise<Actor>
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
const maxNeverIssued = 10_000
const neverIssuedForMs = 10_000
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
    userId: row.userId,
    userName: row.userName,
    email: row.email,
    role: row.role,
    permissions: effectivePermissions(row.role, row.scopes),
    workspaceId: row.workspaceId,
    apiKey: { id: row.apiKeyId, name: row.apiKeyName, scopes: row.scopes, expiresAtMs },
    origin: null,
  }
  return { actor, expiresAtMs, inWorkspace: new Map() }
}

/** Lookups that arrive during one round trip share the next statement. */
const batched = <Value>(load: (hashes: Buffer[]) => Promise<Map<string, Value>>) => {
  let waiting = new Map<string, { hash: Buffer; answer: PromiseWithResolvers<Value | undefined> }>()
  const run = coalesce(async () => {
    const batch = waiting
    waiting = new Map()
    try {
      const found = await load([...batch.values()].map(({ hash }) => hash))
      for (const [id, { answer }] of batch) answer.resolve(found.get(id))
    } catch (error) {
      for (const { answer } of batch.values()) answer.reject(error)
    }
  })
  return (id: string, hash: Buffer): Promise<Value | undefined> => {
    const entry = waiting.get(id) ?? { hash, answer: Promise.withResolvers<Value | undefined>() }
    waiting.set(id, entry)
    void run()
    return entry.answer.promise
  }
}

const setBounded = <K, V>(map: Map<K, V>, key: K, value: V, max: number): void => {
  const oldest = map.keys().next()
  if (map.size >= max && !map.has(key) && !oldest.done) map.delete(oldest.value)
  map.set(key, value)
}

/**
 * A cache of keys that were never issued. Such a key cannot become valid, because keys are random and stored before they
 * are shown, so a flood of requests with one costs as little as with a malformed key. Entries expire after 10 s in case an
 * operator restores an older database under a running server.
 */
const rememberNeverIssued = (now: () => number) => {
  const until = new Map<string, number>()
  return {
    has: (key: string): boolean => (until.get(key) ?? 0) > now(),
    add: (key: string): void => setBounded(until, key, now() + neverIssuedForMs, maxNeverIssued),
  }
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
    const found = new Map<string, Identity | 'nobody'>()
    for (const row of await queries.findKeyIdentities(db.hot, hashes)) {
      const id = row.hash.toString('base64')
      const identity = row.orgId === null ? undefined : toIdentity(row)
      if (identity || row.wasIssued) found.set(id, identity ?? 'nobody')
      // A result that was read before the last change must not be cached as if it came after it.
      if (row.wasIssued && row.epoch >= seenEpoch) setBounded(known, id, identity, maxKnownKeys)
    }
    return found
  })

  /** `nobody` for an issued key that is revoked, expired or without a member; undefined for one that was never issued. */
  return async (hash: Buffer): Promise<Identity | 'nobody' | undefined> => {
    const id = hash.toString('base64')
    if (known.has(id)) {
      await refresh()
      if (known.has(id)) return known.get(id) ?? 'nobody'
    }
    return load(id, hash)
  }
}

/**
 * Authority without stale results (docs/decisions/0001-authority-by-epoch.md). Each process caches identities and, for
 * every request, reads the epoch of all authority after the request has arrived; entries of orgs that changed since are
 * dropped. A revocation, role change or removal therefore applies to every request that arrives after its commit.
 */
export const createAuthority = (db: Database, options: AuthorityOptions): ApiKeyAuthority => {
  const now = options.now ?? Date.now
  const identityOf = rememberKeys(db)
  const neverIssued = rememberNeverIssued(now)
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

  const lookUp = async (key: string, workspaceId: string | undefined): Promise<Actor> => {
    const identity = await identityOf(hashKey(key))
    if (!identity) neverIssued.add(key)
    if (!identity || identity === 'nobody' || identity.expiresAtMs <= now()) throw unknownKey
    touch(identity.actor)
    return workspaceId === undefined ? identity.actor : inWorkspace(identity, workspaceId.toLowerCase())
  }

  return {
    actorOf: (key, workspaceId) => {
      if (neverIssued.has(key)) return unknownKey
      return isWellFormedKey(key, options.keyEnvironment) ? lookUp(key, workspaceId) : malformedKey
    },
  }
}
