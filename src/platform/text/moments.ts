const first = Date.parse('0001-01-01T00:00:00.000Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Whether a time in milliseconds since 1970 is in the years 1–9999 in UTC. PostgreSQL rejects year 0 and the format in which
 * JavaScript prints other years, such as +275760-09-13T00:00:00.000Z. False for NaN.
 */
export const isStorable = (ms: number): boolean => ms >= first && ms <= last
