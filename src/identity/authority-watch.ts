import type { Database } from '../platform/database/database.ts'
import { ApiError, forbidden } from '../platform/http/errors.ts'
import type { Log } from '../platform/process/log.ts'
import type { Actor } from './actor.ts'
import type { Permission } from './permissions.ts'
import * as queries from './queries.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'

/** Says why the caller may not go on: UNAUTHORIZED or FORBIDDEN. Called at most once. */
export type OnLost = (reason: ApiError) => void

/** What somebody may do at a moment. */
type Standing = Pick<Actor, 'orgId' | 'workspaceId' | 'permissions'> & { apiKey: { expiresAtMs: number } | null }

/** Something that takes long, and how to find out again for whom it is done. */
export interface Watched {
  /** Equal for what has the same credential, org, workspace and access. */
  caller: string
  standing: Pick<Standing, 'orgId' | 'workspaceId' | 'apiKey'>
  access: 'member' | Permission
  /** The console's cookie when a request came with one. */
  cookie?: string | undefined
  /** True when authority is looked up after the watch has begun, so that no change can be missed in between. */
  isLookedUpLater?: boolean
  ask: () => ApiError | Promise<Standing | ApiError>
}

/** Tells what takes long (streams, waits, large downloads, turns) when the one it is done for loses the right to it. */
export interface AuthorityWatch {
  /** Answers what ends the watch. */
  add(watched: Watched, onLost: OnLost): () => void
  /** Looks without waiting for the next interval: authority was probably changed by this process just now. */
  soon(): void
}

interface Group extends Pick<Watched, 'caller' | 'access' | 'cookie' | 'ask'> {
  orgId: string
  workspaceId: string | null
  /** When its API key expires. */
  expiresAtMs: number
  isUnverified: boolean
  listeners: Set<OnLost>
}

/** Three looks fit into the second within which a stream has to end. */
const lookMs = 300

const lostPermission = (access: string): ApiError =>
  forbidden(`This needs the permission ${access}, which was taken away.`)
const lostWorkspace = forbidden('The API key or session no longer leads to this workspace.')

const reasonOf = (group: Group, actor: Standing): ApiError | undefined => {
  if (actor.orgId !== group.orgId || actor.workspaceId !== group.workspaceId) return lostWorkspace
  const { access } = group
  return access === 'member' || actor.permissions.has(access) ? undefined : lostPermission(access)
}

/** Asks anew for whom a group is, and ends it when they may not go on. */
const verify = async (groups: Map<string, Group>, group: Group): Promise<void> => {
  let reason: ApiError | undefined
  try {
    const actor = await group.ask()
    if (actor instanceof ApiError) reason = actor
    else {
      reason = reasonOf(group, actor)
      group.expiresAtMs = actor.apiKey?.expiresAtMs ?? Number.POSITIVE_INFINITY
    }
  } catch (error) {
    group.isUnverified = true
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    reason = error
  }
  if (!reason || groups.get(group.caller) !== group) return
  groups.delete(group.caller)
  for (const onLost of group.listeners) onLost(reason)
}

/**
 * One look serves everything that a process has open, and there is none while nothing is open: one statement for the orgs
 * whose authority has changed, one for the sessions of the console. Only callers for whom something may have changed
 * are looked up again, by the same functions that a new request would pass, so both come to the same result.
 */
export const createAuthorityWatch = (
  db: Database,
  sessions: Pick<SessionAuthority, 'listEnded'>,
  log: Log,
): AuthorityWatch => {
  const groups = new Map<string, Group>()
  let seenEpoch: bigint | undefined
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let isWanted = false

  const look = async (): Promise<void> => {
    const asked = [...groups.values()]
    const change = await queries.authorityChangedSince(db.hot, seenEpoch ?? null)
    const ended = new Set(await sessions.listEnded(asked.filter(({ cookie }) => cookie !== undefined)))
    const changed = new Set(change?.orgIds)
    const nowMs = Date.now()
    const doubtful = asked.filter(
      (group) =>
        group.isUnverified || changed.has(group.orgId) || group.expiresAtMs <= nowMs || ended.has(group.cookie ?? ''),
    )
    // Before the answers are known: a group that cannot be verified marks itself again.
    seenEpoch = change?.epoch
    for (const group of doubtful) group.isUnverified = false
    const results = await Promise.allSettled(doubtful.map((group) => verify(groups, group)))
    const failure = results.find(({ status }) => status === 'rejected')
    if (failure) throw (failure as PromiseRejectedResult).reason
  }

  const lookAndSchedule = async (): Promise<void> => {
    isLooking = true
    isWanted = false
    try {
      if (groups.size > 0) await look()
    } catch (error) {
      log.warn({ err: error }, 'the authority of open streams could not be looked up and is looked up again')
    }
    isLooking = false
    schedule(isWanted ? 0 : lookMs)
  }

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    timer = undefined
    // The orgs that change while nothing is open need not be told apart: whoever comes next is verified anyway.
    if (groups.size === 0) seenEpoch = undefined
    else timer = setTimeout(() => void lookAndSchedule(), ms).unref()
  }

  const join = ({ caller, standing, access, cookie, ask, isLookedUpLater = false }: Watched): Group => {
    const joined = groups.get(caller)
    if (joined) return joined
    const { orgId, workspaceId, apiKey } = standing
    const expiresAtMs = apiKey?.expiresAtMs ?? Number.POSITIVE_INFINITY
    // A look that is under way may count changes as seen that the lookup after this call does not see.
    const isUnverified = !isLookedUpLater || seenEpoch === undefined || isLooking
    const listeners = new Set<OnLost>()
    const group: Group = { caller, access, cookie, ask, orgId, workspaceId, expiresAtMs, isUnverified, listeners }
    groups.set(caller, group)
    return group
  }

  return {
    add: (watched, onLost) => {
      const group = join(watched)
      const { listeners } = group
      listeners.add(onLost)
      if (timer === undefined && !isLooking) schedule(lookMs)
      return () => {
        listeners.delete(onLost)
        if (listeners.size === 0 && groups.get(group.caller) === group) groups.delete(group.caller)
      }
    },
    soon: () => {
      if (isLooking) isWanted = true
      else if (groups.size > 0) schedule(0)
    },
  }
}
