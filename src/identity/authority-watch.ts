import type { Database } from '../platform/database/database.ts'
import { ApiError, forbidden } from '../platform/http/errors.ts'
import { createBackoff } from '../platform/process/backoff.ts'
import type { Log } from '../platform/process/log.ts'
import type { Actor } from './actor.ts'
import type { Permission } from './permissions.ts'
import * as queries from './queries.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'

/** Called with the current authority when it may have changed and still suffices for the operation. */
export type OnVerified = (standing: Standing) => void

/** Called at most once, with UNAUTHORIZED or FORBIDDEN. */
export type OnLost = (reason: ApiError) => void

/** The current authority of a caller. */
export type Standing = Pick<Actor, 'orgId' | 'userId' | 'role' | 'workspaceId' | 'workspaceIds' | 'permissions'> & {
  apiKey: { expiresAtMs: number } | null
}

/** A long operation, and how to look up the authority of its caller again. */
export interface Watched {
  /** Equal for operations with the same credential, org, workspace and access, which are looked up once. */
  caller: string
  standing: Pick<Standing, 'orgId' | 'workspaceId' | 'apiKey'>
  access: 'member' | Permission
  /** The session cookie of a request with one. */
  cookie?: string | undefined
  /** True when the authority is looked up after the watch has begun, so that no change is missed in between. */
  isLookedUpLater?: boolean
  lookUp: () => ApiError | Promise<Standing | ApiError>
}

/** Ends long operations (streams, waits, large downloads, turns) when their caller loses the authority for them. */
export interface AuthorityWatch {
  /** Returns the function that ends the watch. */
  add(watched: Watched, onLost: OnLost, onVerified?: OnVerified): () => void
  /** Checks before the next interval, after this process has probably changed somebody's authority. */
  checkSoon(): void
}

interface Group extends Pick<Watched, 'caller' | 'access' | 'cookie' | 'lookUp'> {
  orgId: string
  workspaceId: string | null
  /** Expiry of its API key; Infinity without one. */
  expiresAtMs: number
  isUnverified: boolean
  listeners: Set<{ onLost: OnLost; onVerified: OnVerified | undefined }>
}

/** Three checks fit into the second within which a stream must end. */
const intervalMs = 300
/** Short, because access may have been revoked meanwhile. */
const maxBackoffMs = 2_000

const lostPermission = (access: string): ApiError =>
  forbidden(`This request needs the permission ${access}, which was revoked.`)
const lostWorkspace = forbidden('The API key or session no longer has access to this workspace.')

const reasonOf = (group: Group, actor: Standing): ApiError | undefined => {
  if (actor.orgId !== group.orgId || actor.workspaceId !== group.workspaceId) return lostWorkspace
  const { access } = group
  return access === 'member' || actor.permissions.has(access) ? undefined : lostPermission(access)
}

/** Looks up the authority of a group again and ends the group when it is lost. */
const verify = async (groups: Map<string, Group>, group: Group): Promise<void> => {
  let reason: ApiError | undefined
  let standing: Standing | undefined
  try {
    const actor = await group.lookUp()
    if (actor instanceof ApiError) reason = actor
    else {
      reason = reasonOf(group, actor)
      standing = actor
      group.expiresAtMs = actor.apiKey?.expiresAtMs ?? Number.POSITIVE_INFINITY
    }
  } catch (error) {
    group.isUnverified = true
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    reason = error
  }
  if (groups.get(group.caller) !== group) return
  if (!reason) {
    for (const { onVerified } of group.listeners) if (standing) onVerified?.(standing)
    return
  }
  groups.delete(group.caller)
  for (const { onLost } of group.listeners) onLost(reason)
}

/**
 * One check serves all open operations of a process, and none runs while there are none: one statement for the orgs whose
 * authority has changed, one for sessions. Only callers that may be affected are looked up again, by the same functions
 * that authenticate a new request, so that both have the same result.
 */
export const createAuthorityWatch = (
  db: Database,
  sessions: Pick<SessionAuthority, 'listEnded'>,
  log: Log,
): AuthorityWatch => {
  const groups = new Map<string, Group>()
  let seenEpoch: bigint | undefined
  let timer: NodeJS.Timeout | undefined
  let isChecking = false
  let isCheckWanted = false
  const backoff = createBackoff({ firstMs: intervalMs, maxMs: maxBackoffMs })

  const check = async (): Promise<void> => {
    const open = [...groups.values()]
    const change = await queries.authorityChangedSince(db.hot, seenEpoch ?? null)
    const ended = new Set(await sessions.listEnded(open.filter(({ cookie }) => cookie !== undefined)))
    const changed = new Set(change?.orgIds)
    const nowMs = Date.now()
    const affected = open.filter(
      (group) =>
        group.isUnverified || changed.has(group.orgId) || group.expiresAtMs <= nowMs || ended.has(group.cookie ?? ''),
    )
    // Reset before the lookups, because a group that cannot be verified sets it again.
    seenEpoch = change?.epoch
    for (const group of affected) group.isUnverified = false
    const results = await Promise.allSettled(affected.map((group) => verify(groups, group)))
    const failure = results.find(({ status }) => status === 'rejected')
    if (failure) throw (failure as PromiseRejectedResult).reason
  }

  const checkAndSchedule = async (): Promise<void> => {
    isChecking = true
    isCheckWanted = false
    let waitMs = intervalMs
    try {
      if (groups.size > 0) await check()
      backoff.reset()
    } catch (error) {
      waitMs = backoff.next()
      log.warn({ err: error }, 'the authority of open streams could not be checked and is checked again')
    }
    isChecking = false
    schedule(isCheckWanted ? 0 : waitMs)
  }

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    timer = undefined
    // Changes while nothing is open need not be tracked, because new operations are verified anyway.
    if (groups.size === 0) seenEpoch = undefined
    else timer = setTimeout(() => void checkAndSchedule(), ms).unref()
  }

  const join = ({ caller, standing, access, cookie, lookUp, isLookedUpLater = false }: Watched): Group => {
    const joined = groups.get(caller)
    if (joined) return joined
    const { orgId, workspaceId, apiKey } = standing
    const expiresAtMs = apiKey?.expiresAtMs ?? Number.POSITIVE_INFINITY
    // A running check may mark changes as seen that happened after the caller's authority was looked up.
    const isUnverified = !isLookedUpLater || seenEpoch === undefined || isChecking
    const listeners: Group['listeners'] = new Set()
    const group: Group = { caller, access, cookie, lookUp, orgId, workspaceId, expiresAtMs, isUnverified, listeners }
    groups.set(caller, group)
    return group
  }

  return {
    add: (watched, onLost, onVerified) => {
      const group = join(watched)
      const { listeners } = group
      const listener = { onLost, onVerified }
      listeners.add(listener)
      if (timer === undefined && !isChecking) schedule(intervalMs)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && groups.get(group.caller) === group) groups.delete(group.caller)
      }
    },
    checkSoon: () => {
      if (isChecking) isCheckWanted = true
      else if (groups.size > 0) schedule(0)
    },
  }
}
