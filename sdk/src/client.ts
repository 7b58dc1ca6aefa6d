import { AtriumError, invalidResponse, offline, timedOut, toError } from './errors.ts'
import { idempotentRoutes } from './idempotent-routes.ts'
import { fetchWithRedirects } from './redirects.ts'
import { pause, retryDelayMs } from './retry.ts'
import type { RetriedRequest, RetryLimits } from './retry.ts'
import { withParams, withQuery } from './routes.ts'
import type { AnyRequest, CallArguments, Data, QueryValue, RequestOptions, Route } from './routes.ts'
import { fetchWithProgress } from './upload-progress.ts'
import type { Fetch, UploadProgress } from './upload-progress.ts'
import { uniqueKey } from './unique.ts'

export interface ClientOptions {
  /** Origin of the server, such as `https://atrium.example.com`. Default: the origin of the page. */
  baseUrl?: string | undefined
  /** Not needed in a browser with a session: requests send its cookie. */
  apiKey?: string | undefined
  /** Org of the calls of a session. A function is called before each request, because users can switch between orgs. */
  orgId?: string | (() => string | undefined) | undefined
  /** Workspace of the calls. Default: that of the API key, else the default workspace of the org. */
  workspaceId?: string | (() => string | undefined) | undefined
  /**
   * Attempts after the first one, with exponential backoff or the delay that the server asks for. Default 2. Retried are
   * rate-limited requests; and after connection errors, timeouts and 5xx responses, requests that are not executed twice:
   * GET, PUT, DELETE, and POST with an idempotency key.
   */
  maxRetries?: number | undefined
  /** A request is not retried when the server asks for a longer delay, in milliseconds. Default 30,000. */
  maxRetryDelayMs?: number | undefined
  /**
   * Limit of one attempt until its response has arrived, in milliseconds; 0: none. Default 90,000, because sending a
   * message waits up to 55 s for the reply, and none for bodies of bytes. Streams are limited until they begin.
   */
  timeoutMs?: number | undefined
  /** Replaces the global `fetch`, for proxies, logs and tests. */
  fetch?: Fetch | undefined
}

/** A successful response with its data. */
export interface CallResult<T> {
  data: T
  /** Version of the resource, for `ifMatch`. */
  etag: string | undefined
  /** Whether the request with this idempotency key was executed before. Then `data` contains no secrets. */
  isReplayed: boolean
  /** Status and headers; the body has been read. */
  response: Response
}

export interface PutOptions extends RequestOptions {
  contentType?: string | undefined
  onProgress?: ((progress: UploadProgress) => void) | undefined
}

export interface Client {
  /** Calls a route and resolves with its `data`. Rejects with an AtriumError. */
  call<R extends Route>(route: R, ...args: CallArguments<R>): Promise<Data<R>>
  /** Calls a route and resolves with its `data`, ETag and response. Rejects with an AtriumError. */
  callWithResponse<R extends Route>(route: R, ...args: CallArguments<R>): Promise<CallResult<Data<R>>>
  /** Calls a route and resolves with the successful response before its body, for streams and bytes. Rejects with an AtriumError. */
  send<R extends Route>(route: R, ...args: CallArguments<R>): Promise<Response>
  /** Sends bytes to a signed URL, such as `uploadUrl`, without credentials. Resolves with the `data` of the response. */
  put(url: string, body: Blob, options?: PutOptions): Promise<unknown>
  /** The URL of a route for links and media elements. It contains the org, because these send no headers. */
  url(path: string, query?: Record<string, QueryValue>): string
}

const prefix = '/api/v1'
const idempotentMethods = new Set(['GET', 'PUT', 'DELETE'])

type Bytes = FormData | Blob
const isBytes = (body: unknown): body is Bytes => body instanceof FormData || body instanceof Blob

/** Every attempt of a request. */
interface Plan extends RetriedRequest {
  url: string
  init: RequestInit
  signal: AbortSignal | undefined
  timeoutMs: number
  fetch: Fetch
}

/** One attempt. The time limit ends when `read` has resolved; `signal` also aborts a body that is read later. */
const attempt = async <T>(plan: Plan, read: (response: Response) => Promise<T>): Promise<T> => {
  const { signal, timeoutMs } = plan
  signal?.throwIfAborted()
  const limit = new AbortController()
  const timer = timeoutMs > 0 ? setTimeout(() => limit.abort(), timeoutMs) : undefined
  try {
    const response = await plan.fetch(plan.url, {
      ...plan.init,
      signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    })
    if (!response.ok) throw await toError(response)
    return await read(response)
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    if (error instanceof AtriumError) throw error
    throw limit.signal.aborted ? timedOut(timeoutMs) : offline(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Attempts a request until it succeeds or may not be retried. */
const execute = async <T>(plan: Plan, limits: RetryLimits, read: (response: Response) => Promise<T>): Promise<T> => {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt(plan, read)
    } catch (error) {
      const delayMs = error instanceof AtriumError ? retryDelayMs(error, plan, failures, limits) : undefined
      if (delayMs === undefined) throw error
      await pause(delayMs, plan.signal)
    }
  }
}

/** The `data` of a response; undefined when it has no body. Reading the text can fail by the connection, parsing cannot. */
const readData = async (response: Response): Promise<unknown> => {
  const text = response.status === 204 ? '' : await response.text()
  if (text === '') return undefined
  try {
    return (JSON.parse(text) as { data: unknown }).data
  } catch (cause) {
    throw invalidResponse(response, cause)
  }
}

const readResult = async (response: Response): Promise<CallResult<unknown>> => ({
  data: await readData(response),
  etag: response.headers.get('etag') ?? undefined,
  isReplayed: response.headers.get('idempotency-replayed') === 'true',
  response,
})

const valueOf = (option: string | (() => string | undefined) | undefined): string | undefined =>
  typeof option === 'function' ? option() : option

const withoutUndefined = (record: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(record).filter((entry): entry is [string, string] => entry[1] !== undefined))

const defaultTimeoutMs = 90_000

/** A client of Atrium's HTTP API. */
export const createClient = (options: ClientOptions = {}): Client => {
  const { apiKey, orgId, workspaceId, maxRetries = 2, maxRetryDelayMs = 30_000 } = options
  const baseUrl = (options.baseUrl ?? '').replace(/\/+$/, '')
  const limits: RetryLimits = { maxRetries, maxRetryDelayMs }
  const doFetch = options.fetch ?? fetch.bind(globalThis)
  const doGet = fetchWithRedirects(doFetch)

  const timeoutOf = (asked: number | undefined, hasBytes: boolean): number =>
    asked ?? (hasBytes ? 0 : (options.timeoutMs ?? defaultTimeoutMs))

  const planOf = (route: string, sent: AnyRequest): Plan => {
    const [method = 'GET', path = ''] = route.split(' ')
    const { body, signal, idempotencyKey = idempotentRoutes.has(route) ? uniqueKey() : undefined } = sent
    const hasBytes = isBytes(body)
    const headers = withoutUndefined({
      authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}`,
      'x-org-id': valueOf(orgId),
      'x-workspace-id': valueOf(workspaceId),
      'content-type': body === undefined || hasBytes ? undefined : 'application/json',
      'idempotency-key': idempotencyKey,
      'if-match': sent.ifMatch,
      'x-step-up-token': sent.stepUpToken,
      ...sent.headers,
    })
    // A redirected change would send its body and tokens to wherever a server in between points.
    const init: RequestInit = { method, headers, redirect: 'error' }
    if (body !== undefined) init.body = hasBytes ? body : JSON.stringify(body)
    return {
      url: baseUrl + prefix + withQuery(withParams(path, sent.params ?? {}), sent.query ?? {}),
      init,
      signal,
      timeoutMs: timeoutOf(sent.timeoutMs, hasBytes),
      fetch: method === 'GET' ? doGet : doFetch,
      isRepeatable: idempotentMethods.has(method) || idempotencyKey !== undefined,
      hasIdempotencyKey: idempotencyKey !== undefined,
    }
  }

  const callWithResponse = async (route: string, sent: AnyRequest = {}): Promise<CallResult<unknown>> =>
    execute(planOf(route, sent), limits, readResult)

  const client = {
    callWithResponse,
    call: async (route: string, sent?: AnyRequest) => (await callWithResponse(route, sent)).data,
    send: async (route: string, sent: AnyRequest = {}) =>
      execute(planOf(route, sent), limits, (response) => Promise.resolve(response)),
    put: async (url: string, body: Blob, { contentType, onProgress, signal, timeoutMs, headers }: PutOptions = {}) => {
      const type = contentType ?? (body.type === '' ? 'application/octet-stream' : body.type)
      const init: RequestInit = {
        method: 'PUT',
        headers: { 'content-type': type, ...headers },
        body,
        redirect: 'error',
      }
      const plan: Plan = {
        url,
        init,
        signal,
        timeoutMs: timeoutOf(timeoutMs, true),
        fetch: onProgress ? fetchWithProgress(options.fetch, onProgress) : doFetch,
        isRepeatable: true,
        hasIdempotencyKey: false,
      }
      return execute(plan, limits, readData)
    },
    url: (path: string, query: Record<string, QueryValue> = {}) =>
      baseUrl + prefix + withQuery(path, { ...query, orgId: valueOf(orgId) }),
  }
  return client as Client
}
