import { isCleanText } from '../text/text.ts'
import { badRequest } from './errors.ts'

/**
 * An opaque position in a list: the sort values of the last item seen. Base64url of a JSON array, so that it can be
 * read while debugging; it grants nothing, because every list filters by org again.
 */
export const encodeCursor = (values: (string | number | boolean | null)[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url')

type Kind = 'string' | 'number' | 'boolean' | 'uuid' | 'timestamp'
interface KindTypes {
  string: string
  number: number
  boolean: boolean
  uuid: string
  timestamp: string
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
// Microseconds, as PostgreSQL prints them: a cursor with milliseconds would skip rows of the same millisecond.
const timestamp = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|\+00)$/

// JavaScript accepts February 30 and the year 0; PostgreSQL rejects both.
const isRealTime = (text: string): boolean => {
  const seconds = text.slice(0, 19).replace(' ', 'T')
  const milliseconds = Date.parse(`${seconds}Z`)
  if (Number.isNaN(milliseconds) || seconds.startsWith('0000')) return false
  return new Date(milliseconds).toISOString().startsWith(seconds)
}

const isKind = (value: unknown, kind: Kind): boolean => {
  if (kind === 'uuid') return typeof value === 'string' && uuid.test(value)
  if (kind === 'timestamp') return typeof value === 'string' && timestamp.test(value) && isRealTime(value)
  if (kind === 'string') return typeof value === 'string' && isCleanText(value)
  if (kind === 'number') return typeof value === 'number' && Number.isSafeInteger(value)
  return typeof value === 'boolean'
}

/** Decodes a cursor into values of these kinds. Throws BAD_REQUEST for text that encodeCursor did not return. */
export const decodeCursor = <const Kinds extends readonly Kind[]>(
  cursor: string,
  kinds: Kinds,
): { [Index in keyof Kinds]: KindTypes[Kinds[Index]] } => {
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    values = undefined
  }
  const fits =
    Array.isArray(values) && values.length === kinds.length && kinds.every((kind, index) => isKind(values[index], kind))
  if (!fits) throw badRequest('cursor is not one that this list handed out')
  return values as { [Index in keyof Kinds]: KindTypes[Kinds[Index]] }
}
