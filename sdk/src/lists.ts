import type { Client } from './client.ts'
import type { AnyRequest, CallArguments, Data, Route } from './routes.ts'

/** Routes that return pages. */
export type ListRoute = {
  [R in Route]: Data<R> extends { items: unknown[]; nextCursor: string | null } ? R : never
}[Route]
/** The type of the items of a list. */
export type ItemOf<R extends ListRoute> = Data<R>['items'][number]

interface AnyPage {
  items: unknown[]
  nextCursor: string | null
  hasMore?: boolean
}

async function* readPages(client: Client, route: ListRoute, sent: AnyRequest): AsyncGenerator<AnyPage> {
  // The log of events has a cursor on its last page, too, from which later events are read.
  const parameter = route === 'GET /events' ? 'after' : 'cursor'
  let { query } = sent
  for (;;) {
    const args = [{ ...sent, query }] as unknown as CallArguments<ListRoute>
    const page = (await client.call(route, ...args)) as AnyPage
    yield page
    if (page.nextCursor === null || page.hasMore === false) return
    query = { ...query, [parameter]: page.nextCursor }
  }
}

/**
 * The pages of a list, each loaded when it is asked for. Begins at `query.cursor` if set; `query.limit` is the number of
 * items in a page. Fails with the errors of the route.
 */
export const listPages = <R extends ListRoute>(
  client: Client,
  route: R,
  ...[sent]: CallArguments<R>
): AsyncGenerator<Data<R>, void, undefined> =>
  readPages(client, route, sent ?? {}) as unknown as AsyncGenerator<Data<R>, void, undefined>

/** The items of all pages of a list. By default a page has as many items as the server allows, 100. */
export async function* listItems<R extends ListRoute>(
  client: Client,
  route: R,
  ...[sent]: CallArguments<R>
): AsyncGenerator<ItemOf<R>, void, undefined> {
  const { query, ...rest } = (sent ?? {}) as AnyRequest
  for await (const { items } of readPages(client, route, { ...rest, query: { limit: 100, ...query } })) {
    yield* items as ItemOf<R>[]
  }
}
