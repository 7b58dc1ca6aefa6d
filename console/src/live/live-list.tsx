import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryClient } from '../api.ts'
import { Status } from '../ui/data/status.tsx'
import { Button } from '../ui/forms/button.tsx'
import { QueryBoundary } from '../ui/query-boundary.tsx'
import { Table } from '../ui/data/table.tsx'
import type { Column } from '../ui/data/table.tsx'
import { useConnection, useFallbackPolling } from './connection.ts'
import styles from './live-list.module.css'

interface PageOf<T> {
  items: T[]
  nextCursor: string | null
}

type LiveState = 'live' | 'connecting' | 'disconnected' | 'paused'

type Known<T> = InfiniteData<PageOf<T>, string | undefined> | undefined

const isFirstOnly = <T,>(known: Known<T>): boolean => (known?.pages.length ?? 0) <= 1

/**
 * A list, newest first, that events keep up to date while only the first page is loaded. `pollMs`: pause between two
 * loads while the list has items that change without an event.
 */
export const useLiveList = <T,>(
  key: unknown[],
  load: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<T>>,
  pollMs?: (items: readonly T[]) => number | false,
) => {
  const connection = useConnection()
  const fallback = useFallbackPolling()
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      load({ limit: 50, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) => isFirstOnly(data) && (pollMs?.(data?.pages[0]?.items ?? []) || fallback),
    // `always`, even when the data is not stale: the list is labelled as live.
    refetchOnWindowFocus: ({ state }) => (isFirstOnly(state.data) ? 'always' : false),
    meta: { isLive: true },
  })
  const pages = query.data?.pages ?? []
  const showNewest = (): void => {
    queryClient.setQueryData(
      key,
      (known: Known<T>) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    )
    void query.refetch()
  }
  const state: LiveState =
    query.error || connection === 'disconnected'
      ? 'disconnected'
      : pages.length > 1
        ? 'paused'
        : connection === 'connected'
          ? 'live'
          : 'connecting'
  return { query, items: pages.flatMap(({ items }) => items), state, showNewest }
}

export type LiveItems<T> = ReturnType<typeof useLiveList<T>>

const LiveBar = ({ state, onNewest, children }: { state: LiveState; onNewest: () => void; children?: ReactNode }) => (
  <div className={styles['liveBar']}>
    {state === 'live' && (
      <Status tone="good">
        <Trans>Live</Trans>
      </Status>
    )}
    {state === 'connecting' && (
      <Status>
        <Trans>Connecting</Trans>
      </Status>
    )}
    {state === 'disconnected' && (
      <Status tone="bad">
        <Trans>Disconnected</Trans>
      </Status>
    )}
    {state === 'paused' && (
      <>
        <Status>
          <Trans>Live updates paused</Trans>
        </Status>
        <Button small onClick={onNewest}>
          <Trans>Show latest</Trans>
        </Button>
      </>
    )}
    <span className={styles['gap']} />
    {children}
  </div>
)

/** A live list with its loading, error and empty states. */
export const LiveList = <T extends { id: string }>({
  list: { query, items, state, showNewest },
  label,
  columns,
  onOpen,
  empty,
  actions,
  children,
}: {
  list: LiveItems<T>
  label: string
  columns: Column<T>[]
  onOpen: (item: T) => void
  /** Shown when the list is empty. */
  empty: ReactNode
  /** Shown beside the live status. */
  actions?: ReactNode
  /** Dialogs above the list. */
  children?: ReactNode
}) => (
  <QueryBoundary query={query}>
    {() => (
      <>
        {items.length === 0 ? (
          empty
        ) : (
          <>
            <LiveBar state={state} onNewest={showNewest}>
              {actions}
            </LiveBar>
            <Table label={label} columns={columns} rows={items} keyOf={({ id }) => id} onOpen={onOpen} />
            {query.hasNextPage && (
              <p className={styles['more']}>
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  <Trans>Load more</Trans>
                </Button>
              </p>
            )}
          </>
        )}
        {children}
      </>
    )}
  </QueryBoundary>
)
