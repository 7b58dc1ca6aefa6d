import type { Failure, Routes } from './types.ts'

/** The codes of Atrium's error responses. */
export type ErrorCode = Failure['error']['code']

/**
 * The codes of failures without an error response: the connection failed (`NETWORK`), the response took longer than
 * `timeoutMs` (`TIMEOUT`), or a successful response is not JSON of Atrium (`INVALID_RESPONSE`), such as a proxy's page.
 */
export type ClientErrorCode = 'NETWORK' | 'TIMEOUT' | 'INVALID_RESPONSE'

/** The codes with which a call of this route can fail. */
export type ErrorCodeOf<R extends keyof Routes> = Routes[R]['errors'] | ClientErrorCode

interface ErrorDetails<Code> {
  code: Code
  status: number
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
}

/** A failed request: the server rejected it, or there was no usable response. */
export class AtriumError<Code extends string = ErrorCode | ClientErrorCode> extends Error {
  override readonly name = 'AtriumError'
  /** A stable code. The server may be newer than this client and send a code that the type does not list. */
  readonly code: Code
  /** HTTP status; 0 when there was no response. */
  readonly status: number
  /** Identifies the request in the server's log and in the audit log. */
  readonly requestId: string | undefined
  /** How long the server asks to wait before the next attempt, in seconds. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, details: ErrorDetails<Code>, options?: ErrorOptions) {
    super(message, options)
    this.code = details.code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** Whether a value is an error of a call; with a route, the type of `code` lists the codes of that route. */
export const isAtriumError = <R extends keyof Routes = keyof Routes>(
  error: unknown,
  _route?: R,
): error is AtriumError<ErrorCodeOf<R>> => error instanceof AtriumError

export const offline = (cause: unknown): AtriumError =>
  new AtriumError('The server cannot be reached.', { code: 'NETWORK', status: 0 }, { cause })

export const timedOut = (timeoutMs: number): AtriumError =>
  new AtriumError(`The server did not respond within ${timeoutMs} ms.`, { code: 'TIMEOUT', status: 0 })

export const invalidResponse = ({ status, headers }: Response, cause: unknown): AtriumError =>
  new AtriumError(
    'The response is not JSON of Atrium. Check the URL of the server.',
    { code: 'INVALID_RESPONSE', status, requestId: headers.get('x-request-id') ?? undefined },
    { cause },
  )

/** Codes of responses that a proxy sends in place of the server. */
const codeOfStatus: Record<number, ErrorCode> = {
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'VALIDATION_ERROR',
  429: 'TOO_MANY_REQUESTS',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
}

/** Seconds until the time of a `Retry-After` header, which is a number of seconds or an HTTP date (RFC 9110, 10.2.3). */
export const retryAfterOf = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1_000))
}

/** Parses an error response. One without the API's envelope, such as a proxy's error page, gets the code of its status. */
export const toError = async (response: Response): Promise<AtriumError> => {
  const { status, headers } = response
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: ErrorCode; message?: string } }
    | undefined
    | null
  return new AtriumError(body?.error?.message ?? `The server returned status ${status}.`, {
    code: body?.error?.code ?? codeOfStatus[status] ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_ERROR'),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers.get('retry-after'), Date.now()),
  })
}
