/** An address's parameters with these set; what is empty or undefined is taken out. */
export const withParams = (params: URLSearchParams, patch: Record<string, string | undefined>): URLSearchParams => {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  return next
}
