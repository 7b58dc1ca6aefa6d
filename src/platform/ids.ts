import { randomUUIDv7 } from 'node:crypto'

/** A new UUIDv7: later ids sort later, so that inserts go to the end of an index. */
export const newId = (): string => randomUUIDv7()

/** Smaller than all ids: where lists by ascending ids begin. */
export const firstId = '00000000-0000-0000-0000-000000000000'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuid.test(text)

const maxMs = 2 ** 48 - 1

/** The smallest UUIDv7 of a time in milliseconds since 1970. */
export const smallestIdOf = (ms: number): string => {
  const hex = Math.min(Math.max(ms, 0), maxMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The smallest UUIDv7 of the time that is `ms` later than that of a UUIDv7, or earlier when it is negative. */
export const idLater = (id: string, ms: number): string => {
  const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return smallestIdOf(at + ms)
}
