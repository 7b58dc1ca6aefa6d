import { useInfiniteQuery } from '@tanstack/react-query'

const pollMs = 2_500

interface PageOf<T> {
  items: T[]
  nextCursor: string | null
}

/** The newest first, looked at again and again while only the first page is shown; older pages stand still. */
export const useLiveList = <T>(
  key: unknown[],
  load: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<T>>,
) => {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      load({ limit: 50, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : pollMs),
  })
  const pages = query.data?.pages ?? []
  return { query, items: pages.flatMap(({ items }) => items), isLive: pages.length === 1 && !query.error }
}
