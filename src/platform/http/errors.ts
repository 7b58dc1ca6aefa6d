/** The stable error codes of the API and the HTTP status that each travels with. */
export const statusOfCode = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  VALIDATION_ERROR: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof statusOfCode

export interface ApiErrorOptions {
  /** What really happened: logged, never sent. */
  cause?: unknown
  /** Response headers that belong to this refusal (`Retry-After`, `Allow`). */
  headers?: Record<string, string>
}

/** A refusal that the caller is told about. `message` is public, `cause` is not. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly headers: Record<string, string> | undefined

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = statusOfCode[code]
    this.headers = options.headers
  }
}

export const badRequest = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('BAD_REQUEST', message, options)
export const unauthorized = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('UNAUTHORIZED', message, options)
export const paymentRequired = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('PAYMENT_REQUIRED', message, options)
export const forbidden = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('FORBIDDEN', message, options)
export const conflict = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('CONFLICT', message, options)
export const validationError = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('VALIDATION_ERROR', message, options)
export const tooManyRequests = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', message, options)
export const serviceUnavailable = (message: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', message, options)

/**
 * The answer for a thing that is missing, deleted, malformed by id, or somebody else's. It takes the kind of
 * thing and nothing of the thing itself, so that all four are the same bytes.
 */
export const notFound = (what: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('NOT_FOUND', `${what} not found`, options)

/** The failure envelope, as it goes over the wire. */
export interface FailureBody {
  success: false
  error: { code: ErrorCode; message: string }
}

export const failureBody = (code: ErrorCode, message: string): FailureBody => ({
  success: false,
  error: { code, message },
})
