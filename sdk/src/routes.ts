import type { Routes } from './types.ts'

/** A method and a path below `/api/v1`, such as `GET /files/:id`. */
export type Route = keyof Routes
/** The type of `data` in the response of a route. */
export type Data<R extends Route> = Routes[R]['data']

type Part<R extends Route, Name extends string> = Name extends keyof Routes[R] ? Pick<Routes[R], Name> : unknown
type Sent<R extends Route> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'>

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the request, its retries and a stream that it returned. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Limit of one attempt, in milliseconds; 0: none. See `ClientOptions.timeoutMs`. */
  timeoutMs?: number | undefined
  headers?: Record<string, string> | undefined
}

/** Options for headers that only some routes accept. */
export interface HeaderOptions {
  /**
   * The server executes requests with the same key once in 24 hours. Default: a new key for each call, which its retries
   * use. Set it to repeat a call after a restart of your program.
   */
  idempotencyKey?: string | undefined
  /** ETag of the version to change (`If-Match`). The call fails with CONFLICT when the resource has changed since. */
  ifMatch?: string | undefined
  /** Token returned by `POST /auth/step-up`. */
  stepUpToken?: string | undefined
}

type Accepted<R extends Route> = Routes[R] extends { options: infer Name extends keyof HeaderOptions }
  ? Pick<HeaderOptions, Name>
  : unknown

/** The options of a call of a route. */
export type CallOptions<R extends Route = Route> = RequestOptions & Accepted<R>

/** The params, query and body of a route, and options. Optional when the route requires none. */
export type CallArguments<R extends Route> =
  object extends Sent<R> ? [sent?: Sent<R> & CallOptions<R>] : [sent: Sent<R> & CallOptions<R>]

export type QueryValue = string | number | boolean | null | undefined

/** A request of any route. */
export interface AnyRequest extends RequestOptions, HeaderOptions {
  params?: Record<string, string>
  query?: Record<string, QueryValue>
  body?: unknown
}

/** Replaces `:name` in a path. Values are encoded, so that an ID with slashes cannot reach another route. */
export const withParams = (path: string, params: Record<string, string>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    if (value === undefined || value === '') throw new TypeError(`params.${name} is missing`)
    // URL parsers resolve dot segments, also encoded ones.
    if (value === '.' || value === '..') throw new TypeError(`params.${name} must not be ${value}`)
    return encodeURIComponent(value)
  })

export const withQuery = (path: string, query: Record<string, QueryValue>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}
