/** The stable error codes of the API and their HTTP statuses. */
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
  /** Logged, never sent. */
  cause?: unknown
  /** Response headers of the error (`Retry-After`, `Allow`). */
  headers?: Record<string, string>
}

/** An error of the API. `message` is public, `cause` is only logged. */
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
 * The error for a resource that does not exist, was deleted, has a malformed id, or belongs to another org. It contains
 * only the type of the resource, so that the four cases cannot be distinguished.
 */
export const notFound = (what: string, options?: ApiErrorOptions): ApiError =>
  new ApiError('NOT_FOUND', `${what} not found`, options)

/** The error envelope. */
export interface FailureBody {
  success: false
  error: { code: ErrorCode; message: string }
}

export const failureBody = (code: ErrorCode, message: string): FailureBody => ({
  success: false,
  error: { code, message },
})
