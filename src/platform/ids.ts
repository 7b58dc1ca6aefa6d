import { randomUUIDv7 } from 'node:crypto'

/** A new UUIDv7: later ids sort later, so that inserts go to the end of an index. */
export const newId = (): string => randomUUIDv7()

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuid.test(text)
