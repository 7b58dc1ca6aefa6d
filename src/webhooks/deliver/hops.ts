// Webhooks may lead into one another, and in the end into themselves, under names that nobody can tell to be the same.

/** On a forwarded event: through how many webhooks it has come. */
export const hopsHeader = 'x-atrium-hops'

/** An event that has come through as many is not forwarded any more. */
export const maxHops = 5

export const hopsOf = (headers: Readonly<Record<string, string>> | null): number => {
  const hops = Number.parseInt(headers?.[hopsHeader] ?? '', 10)
  return hops > 0 ? hops : 0
}
