import { useInfiniteQuery } from '@tanstack/react-query'
import type { InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryClient } from '../../api.ts'
import { Status } from '../../ui/data/status.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table } from '../../ui/data/table.tsx'
import type { Column } from '../../ui/data/table.tsx'
import styles from './webhooks.module.css'

const pollMs = 2_500

interface PageOf<T> {
  items: T[]
  nextCursor: string | null
}

type Known<T> = InfiniteData<PageOf<T>, string | undefined> | undefined

const isFirstOnly = <T,>(known: Known<T>): boolean => (known?.pages.length ?? 0) <= 1

/**
 * A list, newest first, that polls while only the first page is loaded. In a hidden tab polling pauses; it resumes
 * immediately when the tab becomes visible.
 */
export const useLiveList = <T,>(
  key: unknown[],
  load: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<T>>,
) => {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      load({ limit: 50, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => (isFirstOnly(state.data) ? pollMs : false),
    refetchIntervalInBackground: false,
    // `always`, even when the data is not stale: the list is labelled as live.
    refetchOnWindowFocus: ({ state }) => (isFirstOnly(state.data) ? 'always' : false),
  })
  const pages = query.data?.pages ?? []
  const showNewest = (): void => {
    queryClient.setQueryData(
      key,
      (known: Known<T>) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    )
    void query.refetch()
  }
  return { query, items: pages.flatMap(({ items }) => items), isLive: pages.length === 1 && !query.error, showNewest }
}

export type LiveItems<T> = ReturnType<typeof useLiveList<T>>

const LiveBar = ({
  isLive,
  error,
  onNewest,
  children,
}: {
  isLive: boolean
  error: unknown
  onNewest: () => void
  children?: ReactNode
}) => (
  <div className={styles['liveBar']}>
    {isLive ? (
      <Status tone="good">Live</Status>
    ) : error == null ? (
      <>
        <Status>Live updates paused</Status>
        <Button small onClick={onNewest}>
          Show latest
        </Button>
      </>
    ) : (
      <Status tone="bad">Disconnected</Status>
    )}
    <span className={styles['gap']} />
    {children}
  </div>
)

/** A live list with its loading, error and empty states. */
export const LiveList = <T extends { id: string }>({
  list: { query, items, isLive, showNewest },
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
            <LiveBar isLive={isLive} error={query.error} onNewest={showNewest}>
              {actions}
            </LiveBar>
            <Table label={label} columns={columns} rows={items} keyOf={({ id }) => id} onOpen={onOpen} />
            {query.hasNextPage && (
              <p className={styles['more']}>
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Load more
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
