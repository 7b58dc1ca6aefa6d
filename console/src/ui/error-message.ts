/** What a person reads about an error that was caught. */
export const errorMessageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something unexpected happened.'
