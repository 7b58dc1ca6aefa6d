import { ApiError } from '../../platform/http/errors.ts'

/**
 * - `invalid_credentials`: the provider does not accept the credentials.
 * - `rejected`: the provider rejects this request; repeating it does not help.
 * - `unavailable`: no response, a 5xx or a rate limit; the request may succeed later.
 */
export type ProviderFailure = 'invalid_credentials' | 'rejected' | 'unavailable'

interface Details {
  cause?: unknown
  retryAfterSeconds?: number | undefined
}

/** The message contains the provider's name and error message with secrets redacted: users and models may see it. */
export class ProviderError extends ApiError {
  readonly failure: ProviderFailure
  /** From the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined

  constructor(failure: ProviderFailure, message: string, { cause, retryAfterSeconds }: Details = {}) {
    super(failure === 'unavailable' ? 'SERVICE_UNAVAILABLE' : 'BAD_REQUEST', message, { cause })
    this.name = 'ProviderError'
    this.failure = failure
    this.retryAfterSeconds = retryAfterSeconds
  }
}
