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

/** Tells who a key stands for, as of now. */
export interface Authority {
  /**
   * The actor behind a bearer key, in the named workspace or else the key's default one. Rejects with UNAUTHORIZED
   * for a key that is unknown, revoked or expired, and with FORBIDDEN for a workspace that the user is not in. A key that
   * nobody needs to be asked about (its prefix, environment or checksum is wrong, or it was never issued) is refused at
   * once.
   */
  actorOf(key: string, workspaceId: string | undefined): ApiError | Promise<Actor>
}

export interface AuthorityOptions {
  keyEnvironment: KeyEnvironment
  /** Milliseconds since 1970; keys expire by it between two looks at the database. */
  now?: () => number
  onError: (error: unknown) => void
}

interface Identity {
  actor: Actor
  expiresAtMs: number
  /** The actor in each workspace that was named so far; undefined where the user may not go. */
  inWorkspace: Map<string, Actor | undefined>
}

const maxKnownKeys = 10_000
const maxNeverIssued = 10_000
const neverIssuedForMs = 10_000
const maxWorkspacesOfKey = 100
const touchEveryMs = 600_000

// Thrown at every refused request, so they are made once, and their stacks with them.
const malformedKey = unauthorized('Send an API key of this environment as "Authorization: Bearer <key>".')
const unknownKey = unauthorized('The API key is not valid: it is unknown, revoked or expired.')
/** The answer to a named workspace that is somebody else's, missing or malformed, or that the caller is not in. */
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

/** Collects the lookups that arrive during one round trip into the next statement. */
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
 * Keys that were never issued, as they were sent. Such a key cannot begin to work: keys are random, and nobody is told
 * one before it is stored. So nobody needs to be asked about it again, and a flood of one costs what a malformed key
 * costs. (The ten seconds are for who restores an old database under a running server.)
 */
const rememberNeverIssued = (now: () => number) => {
  const until = new Map<string, number>()
  return {
    has: (key: string): boolean => (until.get(key) ?? 0) > now(),
    add: (key: string): void => setBounded(until, key, now() + neverIssuedForMs, maxNeverIssued),
  }
}

/** Who the keys stand for, remembered; the answer is never what was true before it was asked for. */
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
      // An answer from before the last change must not be remembered as if it came after it.
      if (row.wasIssued && row.epoch >= seenEpoch) setBounded(known, id, identity, maxKnownKeys)
    }
    return found
  })

  /** `nobody` for a key that stands for nobody now; undefined for one that was never issued. */
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
 * Authority without a stale answer. Each process remembers who a key stands for and, for every request, asks the
 * database for the epoch of all authority after the request has arrived; the orgs that moved it are forgotten. So a
 * revocation, a lost role or a lost workspace holds for every request that arrives after its commit, on every process.
 */
export const createAuthority = (db: Database, options: AuthorityOptions): Authority => {
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

  const asked = async (key: string, workspaceId: string | undefined): Promise<Actor> => {
    const identity = await identityOf(hashKey(key))
    if (!identity) neverIssued.add(key)
    if (!identity || identity === 'nobody' || identity.expiresAtMs <= now()) throw unknownKey
    touch(identity.actor)
    return workspaceId === undefined ? identity.actor : inWorkspace(identity, workspaceId.toLowerCase())
  }

  return {
    actorOf: (key, workspaceId) => {
      if (neverIssued.has(key)) return unknownKey
      return isWellFormedKey(key, options.keyEnvironment) ? asked(key, workspaceId) : malformedKey
    },
  }
}
