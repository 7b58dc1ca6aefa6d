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
 * The newest first, looked at again and again while only the first page is shown; older pages stand still. In a tab
 * that nobody sees it pauses, and looks at once when the tab is seen again.
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
    // However fresh the rows still are: they are called live.
    refetchOnWindowFocus: ({ state }) => (isFirstOnly(state.data) ? 'always' : false),
  })
  const pages = query.data?.pages ?? []
  const toNewest = (): void => {
    queryClient.setQueryData(
      key,
      (known: Known<T>) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    )
    void query.refetch()
  }
  return { query, items: pages.flatMap(({ items }) => items), isLive: pages.length === 1 && !query.error, toNewest }
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
      <Status tone="good">Live: the newest appear by themselves</Status>
    ) : error == null ? (
      <>
        <Status>Older ones are shown, so this list stands still</Status>
        <Button small onClick={onNewest}>
          Back to the newest
        </Button>
      </>
    ) : (
      <Status tone="bad">Not live: the server was not reached</Status>
    )}
    <span className={styles['gap']} />
    {children}
  </div>
)

/** What has come so far, or the state that the list is in instead. */
export const LiveList = <T extends { id: string }>({
  list: { query, items, isLive, toNewest },
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
  /** In place of a table without rows. */
  empty: ReactNode
  /** Beside the words that say whether it is live. */
  actions?: ReactNode
  /** What is opened over the list, once there is one. */
  children?: ReactNode
}) => (
  <QueryBoundary query={query}>
    {() => (
      <>
        {items.length === 0 ? (
          empty
        ) : (
          <>
            <LiveBar isLive={isLive} error={query.error} onNewest={toNewest}>
              {actions}
            </LiveBar>
            <Table label={label} columns={columns} rows={items} keyOf={({ id }) => id} onOpen={onOpen} />
            {query.hasNextPage && (
              <p className={styles['more']}>
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Show older ones
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
