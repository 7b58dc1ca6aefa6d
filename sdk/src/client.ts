import { AtriumError, offline, toError } from './errors.ts'
import type { Routes } from './types.ts'
import { uniqueKey } from './unique.ts'

export { AtriumError } from './errors.ts'
export { uniqueKey } from './unique.ts'
export type * from './types.ts'

/** A method and a path below `/api/v1`, such as `GET /files/:id`. */
export type Route = keyof Routes
/** The type of `data` in the response of a route. */
export type Data<R extends Route> = Routes[R]['data']

type Part<R extends Route, Name extends string> = Name extends keyof Routes[R] ? Pick<Routes[R], Name> : unknown
type Sent<R extends Route> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'>

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The server executes requests with the same key once. `true` generates a key, which all retries use. */
  idempotencyKey?: string | true | undefined
  /** ETag of the version to change (`If-Match`). */
  ifMatch?: string | undefined
  /** Token returned by `POST /auth/step-up`. */
  stepUpToken?: string | undefined
  headers?: Record<string, string> | undefined
}

/** The params, query and body of a route, and options. Optional when the route requires none. */
export type CallArguments<R extends Route> =
  object extends Sent<R> ? [sent?: Sent<R> & CallOptions] : [sent: Sent<R> & CallOptions]

export interface ClientOptions {
  /** Origin of the server, without a path. Default: the origin of the page. */
  baseUrl?: string
  /** Not needed in a browser with a session: requests send its cookie. */
  apiKey?: string
  /** Called before each request, because users can switch between orgs. */
  orgId?: () => string | undefined
  workspaceId?: () => string | undefined
  /** Maximum number of retries of `GET` requests and of requests with an idempotency key. Default 2. */
  retries?: number
  fetch?: typeof fetch
}

export interface Client {
  /** Calls a route and resolves with its `data`. Rejects with an AtriumError. */
  call<R extends Route>(route: R, ...args: CallArguments<R>): Promise<Data<R>>
  /** Calls a route and resolves with the successful response, for streams. Rejects with an AtriumError. */
  send<R extends Route>(route: R, ...args: CallArguments<R>): Promise<Response>
  /** The URL of a route for links and media elements. It contains the org, because these send no headers. */
  url(path: string, query?: Record<string, string | number | boolean | undefined>): string
}

interface Loose extends CallOptions {
  params?: Record<string, string>
  query?: Record<string, QueryValue>
  body?: unknown
}

const prefix = '/api/v1'

const withParams = (path: string, params: Record<string, string>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

type QueryValue = string | number | boolean | null | undefined

const withQuery = (path: string, query: Record<string, QueryValue>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

const isRaw = (body: unknown): body is FormData | Blob => body instanceof FormData || body instanceof Blob

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

const longestPauseMs = 5_000

/** Milliseconds until the next attempt; undefined when the request is not retried. */
const pauseAfter = (error: AtriumError, attempt: number): number | undefined => {
  if (error.code !== 'NETWORK' && error.status !== 503) return undefined
  const asked = (error.retryAfterSeconds ?? 0) * 1_000
  return asked > longestPauseMs ? undefined : Math.max(asked, 200 * 2 ** attempt)
}

/** A client of Atrium's HTTP API. */
export const createClient = (options: ClientOptions = {}): Client => {
  const { baseUrl = '', apiKey, orgId, workspaceId, retries = 2 } = options
  const doFetch = options.fetch ?? fetch.bind(globalThis)

  const headersOf = (sent: Loose): Record<string, string> => {
    const named: Record<string, string | undefined> = {
      authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}`,
      'x-org-id': orgId?.(),
      'x-workspace-id': workspaceId?.(),
      'content-type': sent.body === undefined || isRaw(sent.body) ? undefined : 'application/json',
      'idempotency-key': sent.idempotencyKey === true ? uniqueKey() : sent.idempotencyKey,
      'if-match': sent.ifMatch,
      'x-step-up-token': sent.stepUpToken,
      ...sent.headers,
    }
    const entries = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return Object.fromEntries(entries)
  }

  const attempt = async (url: string, init: RequestInit): Promise<Response> => {
    let response: Response
    try {
      response = await doFetch(url, init)
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      throw offline(error)
    }
    if (!response.ok) throw await toError(response)
    return response
  }

  const send = async (route: string, sent: Loose = {}): Promise<Response> => {
    const [method = 'GET', path = ''] = route.split(' ')
    const url = baseUrl + prefix + withQuery(withParams(path, sent.params ?? {}), sent.query ?? {})
    const { body, signal } = sent
    const init: RequestInit = {
      method,
      headers: headersOf(sent),
      credentials: 'same-origin',
      ...(signal && { signal }),
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    }
    const mayRepeat = method === 'GET' || sent.idempotencyKey !== undefined
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt(url, init)
      } catch (error) {
        const pauseMs = error instanceof AtriumError && mayRepeat ? pauseAfter(error, tries) : undefined
        if (pauseMs === undefined || tries >= retries) throw error
        await pause(pauseMs, signal)
      }
    }
  }

  const call = async (route: string, sent?: Loose): Promise<unknown> => {
    const response = await send(route, sent)
    if (response.status === 204) return undefined
    const answer = (await response.json()) as { data: unknown }
    return answer.data
  }

  const url: Client['url'] = (path, query = {}) => baseUrl + prefix + withQuery(path, { ...query, orgId: orgId?.() })

  return { send, call, url } as Client
}
