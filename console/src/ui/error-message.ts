import { AtriumError } from '@atrium/client'

/** The text that is shown for a caught error. */
export const errorMessageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'An unexpected error occurred. Try again.'

/** The request ID of a server error, to find it in the server log. Other errors explain themselves. */
export const requestIdOf = (error: unknown): string | undefined =>
  error instanceof AtriumError && error.status >= 500 ? error.requestId : undefined
