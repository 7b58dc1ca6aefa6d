import { QueryCache, QueryClient, queryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { AtriumError, createClient, listItems } from '@atrium/client'
import type { CallArguments, Data, Me, Route } from '@atrium/client'
import { scope } from './scope.ts'
import { showDirections } from './ui/text/visible-text.ts'

const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** Home starts 14 reads when it is rendered. In one task, their requests would block a phone for a third of a second. */
const fetchInOwnTask: typeof fetch = async (input, init) => {
  if (init?.method === 'GET') await nextTask()
  return fetch(input, init)
}

const client = createClient({
  fetch: fetchInOwnTask,
  orgId: () => scope().orgId,
  workspaceId: () => scope().workspaceId,
  // Nobody watches a spinner for longer; the error says when to try again.
  maxRetryDelayMs: 5_000,
})

/** The deletions that this tab has requested and that are pending, with the IDs in their requests. */
const deletions = new Map<Promise<unknown>, unknown[]>()

/** The pending deletion of what a request names. */
export const deletionOf = (request: unknown): Promise<unknown> | undefined => {
  if (deletions.size === 0) return undefined
  const text = JSON.stringify(request) ?? ''
  for (const [response, ids] of deletions) {
    if (ids.some((id) => typeof id === 'string' && text.includes(id))) return response
  }
  return undefined
}

export const api: typeof client = {
  ...client,
  call: async (route, ...args) => {
    const response = client.call(route, ...args).then((data) => {
      showDirections(data)
      return data
    })
    if (!route.startsWith('DELETE ')) return response
    const [request] = args as [{ params?: Record<string, unknown> }?]
    deletions.set(response, Object.values(request?.params ?? {}))
    try {
      return await response
    } finally {
      deletions.delete(response)
    }
  },
}

// 503 is temporary: the server did not respond or a dependency is down. Other errors would fail again.
const mayRetry = (failures: number, error: Error): boolean =>
  failures < 2 && error instanceof AtriumError && error.status === 503

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      // The session has ended. Reloading it shows the sign-in page.
      if (error instanceof AtriumError && error.status === 401 && query.queryKey[0] !== 'session') {
        void queryClient.invalidateQueries({ queryKey: ['session'] })
      }
    },
  }),
  defaultOptions: {
    // `always`: `navigator.onLine` is unreliable, so the request itself finds out whether the server is reachable.
    queries: { staleTime: 15_000, retry: mayRetry, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

type RequestOf<R extends Route> = CallArguments<R>[0]

/** The query key of a route's response in the org and workspace of this tab; a prefix invalidates several. */
export const keyOf = <R extends Route>(route: R, request?: RequestOf<R>): unknown[] => {
  const { orgId, workspaceId } = scope()
  return request === undefined ? [route, orgId, workspaceId] : [route, orgId, workspaceId, request]
}

/** A read of the API for `useQuery`: `useQuery(read('GET /files/:id', { params: { id } }))`. */
export const read = <R extends Route>(route: R, ...[request]: CallArguments<R>) =>
  queryOptions({
    queryKey: keyOf(route, request),
    queryFn: ({ signal }): Promise<Data<R>> => {
      const withSignal = { ...request, signal } as unknown as CallArguments<R>[0]
      return api.call(route, ...([withSignal] as unknown as CallArguments<R>))
    },
  })

/**
 * The headers that select the org and workspace of this tab, for work that consists of several requests: the person may
 * switch to another org meanwhile.
 */
export const scopeHeaders = (): Record<string, string> => {
  const { workspaceId } = scope()
  // Until the person chooses one, the server chooses.
  const orgId = scope().orgId ?? queryClient.getQueryData<Me>(keyOf('GET /me'))?.org.id
  return {
    ...(orgId !== undefined && { 'x-org-id': orgId }),
    ...(workspaceId !== undefined && { 'x-workspace-id': workspaceId }),
  }
}

/** Invalidates the responses of these routes, so that everything that shows them loads them again. */
export const refresh = (...routes: Route[]): Promise<unknown> =>
  Promise.all(routes.map((route) => queryClient.invalidateQueries({ queryKey: [route] })))

export const isCode = (error: unknown, code: string): boolean => error instanceof AtriumError && error.code === code

/** Routes with cursor pagination. */
export type ListRoute = {
  [R in Route]: Data<R> extends { items: unknown[]; nextCursor: string | null } ? R : never
}[Route]
export type ItemOf<R extends ListRoute> = Data<R>['items'][number]

/** How many items a field or a menu offers. */
const maxChoices = 1_000

/** The items of all pages of a list, up to 1,000, for a field or a menu that offers them. */
export const readAll = <R extends ListRoute>(route: R, ...[request]: CallArguments<R>) =>
  queryOptions({
    queryKey: [...keyOf(route, request), 'all'],
    queryFn: async ({ signal }): Promise<ItemOf<R>[]> => {
      const items: ItemOf<R>[] = []
      const args = [{ ...request, signal }] as unknown as CallArguments<R>
      for await (const item of listItems(api, route, ...args)) {
        items.push(item)
        if (items.length === maxChoices) break
      }
      return items
    },
  })

export interface Pages<T> {
  query: UseQueryResult<T[]>
  /** Loads the next page; undefined when there is none. */
  more: (() => void) | undefined
  isLoadingMore: boolean
}

/** The pages of a list that were loaded so far, flattened. */
export const usePages = <R extends ListRoute>(route: R, ...[request]: CallArguments<R>): Pages<ItemOf<R>> => {
  const query = useInfiniteQuery({
    queryKey: [...keyOf(route, request), 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }): Promise<Data<R>> => {
      const { query: filters, ...rest } = (request ?? {}) as { query?: object }
      const all = {
        ...rest,
        signal,
        query: { limit: 50, ...filters, ...(pageParam !== undefined && { cursor: pageParam }) },
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
