/**
 * Header of a forwarded event with the number of webhooks that it has passed through. Webhooks can forward to one
 * another, and the URLs of a cycle can use different host names, so a cycle cannot be detected when a URL is set.
 */
export const forwardCountHeader = 'x-atrium-hops'

/** An event that has passed through this many webhooks is not forwarded again. */
export const maxForwards = 5

export const forwardCountOf = (headers: Readonly<Record<string, string>> | null): number => {
  const count = Number.parseInt(headers?.[forwardCountHeader] ?? '', 10)
  return count > 0 ? count : 0
}
