/** The text that is shown for a caught error. */
export const errorMessageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'An unexpected error occurred. Try again.'
