import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Db } from '../../platform/database/database.ts'
import { cutOff, onceClosed } from '../../platform/http/closed.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { forEachConcurrently } from '../blobs/blobs.ts'
import type { FilesDeps } from '../deps.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { displaysBytes, getSharedItem, hasSamePassword, openVisit } from './visits.ts'
import type { Visit } from './visits.ts'

/** Two checks fit into the second within which a running request ends. */
const checkMs = 400

/** Checks at the same time: a visitor with a thousand downloads must leave connections to all other requests. */
const concurrentChecks = 2

/** The share of a token as it is in this round of checks. */
type Open = (token: string) => Promise<Visit>
type IsAllowed = (open: Open) => Promise<boolean>

interface Group {
  isAllowed: IsAllowed
  ends: Set<() => void>
}

/** Ends running downloads and uploads of shares when a new request would be rejected. */
export interface RunningVisits {
  /** Requests with the same key are checked once. Returns the function that ends the watch. */
  add(key: string, isAllowed: IsAllowed, end: () => void): () => void
}

const checkGroup = async (groups: Map<string, Group>, key: string, open: Open): Promise<void> => {
  const group = groups.get(key)
  if (group === undefined || (await group.isAllowed(open))) return
  groups.delete(key)
  for (const end of group.ends) end()
}

const opening = (db: Db): Open => {
  const visits = new Map<string, Promise<Visit>>()
  return (token) => {
    const visit = visits.get(token) ?? openVisit(db, token)
    visits.set(token, visit)
    return visit
  }
}

const createRunningVisits = ({ db, log }: Pick<FilesDeps, 'db' | 'log'>): RunningVisits => {
  const groups = new Map<string, Group>()
  let timer: NodeJS.Timeout | undefined

  const checkAll = async (): Promise<void> => {
    const open = opening(db)
    await forEachConcurrently(concurrentChecks, [...groups.keys()], async (key) => {
      try {
        await checkGroup(groups, key, open)
      } catch (error) {
        log.warn({ err: error }, 'a share could not be checked')
      }
    })
    timer = undefined
    schedule()
  }
  const schedule = (): void => {
    if (groups.size > 0) timer ??= setTimeout(() => void checkAll(), checkMs).unref()
  }

  return {
    add: (key, isAllowed, end) => {
      const group = groups.get(key) ?? { isAllowed, ends: new Set() }
      groups.set(key, group)
      group.ends.add(end)
      schedule()
      return () => {
        group.ends.delete(end)
        if (group.ends.size === 0 && groups.get(key) === group) groups.delete(key)
      }
    },
  }
}

/** What the routes of visitors have in common. */
export interface VisitContext {
  /** Where files are displayed from, if not from this server. */
  contentOrigin: string | undefined
  running: RunningVisits
}

export const createVisitContext = (deps: Pick<FilesDeps, 'config' | 'db' | 'log'>): VisitContext => {
  const { contentBaseUrl } = deps.config
  const contentOrigin = contentBaseUrl === undefined ? undefined : new URL(contentBaseUrl).origin
  return { contentOrigin, running: createRunningVisits(deps) }
}

const isAllowedBy = async (check: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await check()
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false
    throw error
  }
}

interface Watched {
  token: string
  share: OpenShare
}

/** Ends a download when its share, or the file in it, could no longer be downloaded or displayed. */
export const watchDownload = (
  running: RunningVisits,
  db: Db,
  { token, share, item, isDisplayed, reply }: Watched & { item: SharedItem; isDisplayed: boolean; reply: FastifyReply },
): void => {
  const isAllowed = async (open: Open): Promise<boolean> => {
    const visit = await open(token)
    const { share: now } = visit
    const found = await getSharedItem(db, visit, item.id)
    // A limit of downloads that was reached meanwhile does not end those that were counted.
    const isOffered = isDisplayed ? displaysBytes(now, found) : now.permission === 'download'
    return isOffered && hasSamePassword(share, now)
  }
  const key = JSON.stringify([share.id, item.id, isDisplayed, share.passwordHash])
  const unwatch = running.add(
    key,
    (open) => isAllowedBy(() => isAllowed(open)),
    () => void reply.raw.destroy(),
  )
  onceClosed(reply.raw, unwatch)
}

/** Ends an upload when its share no longer accepts any. Like after a closed connection, its bytes are deleted. */
export const watchUpload = (
  running: RunningVisits,
  { token, share, raw }: Watched & { raw: IncomingMessage },
): void => {
  const isAllowed = async (open: Open): Promise<boolean> => {
    const { share: now } = await open(token)
    return now.permission === 'upload' && hasSamePassword(share, now)
  }
  const unwatch = running.add(
    JSON.stringify([share.id, share.passwordHash]),
    (open) => isAllowedBy(() => isAllowed(open)),
    () => cutOff(raw, 'the share of the upload has ended'),
  )
  onceClosed(raw, unwatch)
}
