import { randomUUIDv7 } from 'node:crypto'

/** A new id: UUIDv7, so that ids made later sort later and inserts land at the end of an index. */
export const newId = (): string => randomUUIDv7()

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuid.test(text)
