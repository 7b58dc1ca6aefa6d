import { randomUUIDv7 } from 'node:crypto'

/** A new UUIDv7: later ids sort later, so that inserts go to the end of an index. */
export const newId = (): string => randomUUIDv7()

/** Smaller than all ids: where lists by ascending ids begin. */
export const firstId = '00000000-0000-0000-0000-000000000000'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuid.test(text)
