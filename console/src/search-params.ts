/** A copy of URL parameters with `patch` applied; empty and undefined values are removed. */
export const withParams = (params: URLSearchParams, patch: Record<string, string | undefined>): URLSearchParams => {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  return next
}
