import type { Query } from '@tanstack/react-query'
import type { Event, Me } from '@atrium/client'
import { deletionOf, keyOf, queryClient } from '../api.ts'
import { affectedBy, idsOf } from './affected.ts'

/**
 * The first responses to an event come after `firstMs`, because a change often causes several events. While events
 * keep coming, the pause doubles up to `longestMs`: an org with many changes has many tabs that load them.
 */
const pauses = { firstMs: 150, longestMs: 2_000, quietMs: 5_000 }
/** A request without a response does not keep other responses from being loaded. */
const patienceMs = 10_000

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type Predicate = (query: Query) => boolean

/** A list with `meta.isLive` stays as it is after older pages were loaded; the person asks for the latest. */
const isPaused = ({ meta, state }: Query): boolean =>
  meta?.['isLive'] === true && ((state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > 1

// An invalidation does not restart a first load and would cancel the load of a further page.
const isFinishedFirst = ({ state }: Query): boolean =>
  state.fetchStatus === 'fetching' && (state.data === undefined || state.fetchMeta?.fetchMore !== undefined)

const invalidate = async (isAffected: Predicate): Promise<void> => {
  const affected = queryClient.getQueryCache().findAll({ predicate: (query) => isAffected(query) && !isPaused(query) })
  // The event of a deletion can arrive before its response: what shows the deleted resource would load it again.
  const later = new Set(affected.filter((query) => isFinishedFirst(query) || deletionOf(query.queryKey) !== undefined))
  const now = new Set(affected.filter((query) => !later.has(query)))
  const again = async (query: Query): Promise<void> => {
    const deletion = deletionOf(query.queryKey)
    await (deletion ?? query.promise)?.catch(() => undefined)
    // What shows the resource is closed meanwhile.
    if (deletion) await sleep(pauses.firstMs)
    await queryClient.invalidateQueries({ predicate: (one) => one === query && !isPaused(one) })
  }
  await Promise.all([
    queryClient.invalidateQueries({ predicate: (query) => now.has(query) }),
    ...[...later].map((query) => again(query)),
  ])
}

/** Query keys begin with the route. Both have their own lifetime: previews are large, and a session is checked often. */
const isKept = ({ queryKey: [route] }: Query): boolean =>
  route === 'session' || route === 'GET /me' || route === 'GET /files/:id/preview'

const workspaceId = (): string | undefined => queryClient.getQueryData<Me>(keyOf('GET /me'))?.workspace?.id

/** Loads what events make outdated, if it is shown, and otherwise when it is shown the next time. */
export const createInvalidation = () => {
  let pending: Predicate[] = []
  let isRunning = false
  let pauseMs = pauses.firstMs
  let lastAt = 0

  const run = async (): Promise<void> => {
    isRunning = true
    while (pending.length > 0) {
      const isQuiet = Date.now() - lastAt > pauses.quietMs
      pauseMs = isQuiet ? pauses.firstMs : Math.min(pauseMs * 2, pauses.longestMs)
      // The tabs of an org receive an event at the same time.
      await sleep(pauseMs * (1 + Math.random() / 2))
      const taken = pending
      pending = []
      lastAt = Date.now()
      await Promise.race([invalidate((query) => taken.some((isAffected) => isAffected(query))), sleep(patienceMs)])
    }
    isRunning = false
  }
  const add = (isAffected: Predicate): void => {
    pending.push(isAffected)
    if (!isRunning) void run()
  }

  return {
    byEvent: (event: Event): void => {
      const { all, own } = affectedBy(event, workspaceId())
      const ids = own.length > 0 ? idsOf(event) : []
      add(({ queryKey }) => {
        const [route, , , ...request] = queryKey as (typeof all)[number][]
        if (route === undefined) return false
        if (all.includes(route)) return true
        if (!own.includes(route)) return false
        const text = JSON.stringify(request)
        return ids.some((id) => text.includes(id))
      })
    },
    /** Everything that was loaded before can be outdated. */
    all: (): void => {
      const before = new Set(queryClient.getQueryCache().getAll())
      add((query) => before.has(query) && !isKept(query))
    },
  }
}
