import { QueryCache, QueryClient, queryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { AtriumError, createClient } from 'atrium-sdk'
import type { CallArguments, Data, Route } from 'atrium-sdk'
import { scope } from './scope.ts'

export const api = createClient({
  orgId: () => scope().orgId,
  workspaceId: () => scope().workspaceId,
})

// Another attempt helps when nothing answered or something is away for the moment; a refusal stays one.
const mayRetry = (failures: number, error: Error): boolean =>
  failures < 2 && error instanceof AtriumError && error.status === 503

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      // The session has ended: what asks for it shows the way to sign in.
      if (error instanceof AtriumError && error.status === 401 && query.queryKey[0] !== 'session') {
        void queryClient.invalidateQueries({ queryKey: ['session'] })
      }
    },
  }),
  defaultOptions: {
    // `always`: whether we are offline is for the request to find out, not for the browser to guess.
    queries: { staleTime: 15_000, retry: mayRetry, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

type Sent<R extends Route> = CallArguments<R>[0]

/** The key of what a route answers in the org and workspace of this tab; a prefix of it invalidates more. */
export const keyOf = <R extends Route>(route: R, sent?: Sent<R>): unknown[] => {
  const { orgId, workspaceId } = scope()
  return sent === undefined ? [route, orgId, workspaceId] : [route, orgId, workspaceId, sent]
}

/** A read of the API for `useQuery`: `useQuery(read('GET /files/:id', { params: { id } }))`. */
export const read = <R extends Route>(route: R, ...[sent]: CallArguments<R>) =>
  queryOptions({
    queryKey: keyOf(route, sent),
    queryFn: ({ signal }): Promise<Data<R>> => {
      const withSignal = { ...sent, signal } as unknown as CallArguments<R>[0]
      return api.call(route, ...([withSignal] as unknown as CallArguments<R>))
    },
  })

/** Has what these routes answered asked again, wherever it is shown. */
export const refresh = (...routes: Route[]): Promise<unknown> =>
  Promise.all(routes.map((route) => queryClient.invalidateQueries({ queryKey: [route] })))

export const isCode = (error: unknown, code: string): boolean => error instanceof AtriumError && error.code === code

/** Routes that answer a page at a time. */
export type ListRoute = {
  [R in Route]: Data<R> extends { items: unknown[]; nextCursor: string | null } ? R : never
}[Route]
export type ItemOf<R extends ListRoute> = Data<R>['items'][number]

export interface Pages<T> {
  query: UseQueryResult<T[]>
  /** Asks for the next page; undefined when there is none. */
  more: (() => void) | undefined
  isLoadingMore: boolean
}

/** A list as far as one has asked for it: the first page, and a way to the next ones. */
export const usePages = <R extends ListRoute>(route: R, ...[sent]: CallArguments<R>): Pages<ItemOf<R>> => {
  const query = useInfiniteQuery({
    queryKey: [...keyOf(route, sent), 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }): Promise<Data<R>> => {
      const { query: asked, ...rest } = (sent ?? {}) as { query?: object }
      const all = {
        ...rest,
        signal,
        query: { limit: 50, ...asked, ...(pageParam !== undefined && { cursor: pageParam }) },
      }
      return api.call(route, ...([all] as unknown as CallArguments<R>))
    },
    getNextPageParam: (page) => page.nextCursor,
    select: ({ pages }): ItemOf<R>[] => pages.flatMap(({ items }) => items as ItemOf<R>[]),
  })
  return {
    query,
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
    isLoadingMore: query.isFetchingNextPage,
  }
}
