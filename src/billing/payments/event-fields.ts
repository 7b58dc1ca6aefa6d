// Reads the fields of the payment provider's events. A signature proves the sender, not that the content is well-formed:
// a field with a type or size that the provider never sends is BAD_REQUEST, so that nothing of the event is recorded and
// no amount, time or id is guessed.
import { badRequest } from '../../platform/http/errors.ts'

/** The longest id that Stripe documents, and well below what an index entry of PostgreSQL can hold (2,700 bytes). */
const maxIdLength = 255
const maxMessageLength = 1_000
/** Stripe's amounts have at most 12 digits. */
const maxAmount = 999_999_999_999
/** The last second of the year 9999: later times have no ISO 8601 form with a four-digit year. */
const maxSeconds = 253_402_300_799

const malformed = (name: string) => badRequest(`The event is malformed: ${name} has an unexpected type or size.`)

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** The value when it is an object, else an empty object. */
export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** The first object of a list, else an empty object. */
export const firstOf = (value: unknown): Record<string, unknown> =>
  objectOf(Array.isArray(value) ? value[0] : undefined)

/** An id, status or type. Undefined when it is absent or empty. */
export const textOf = (value: unknown, name: string): string | undefined => {
  if (isAbsent(value) || value === '') return undefined
  if (typeof value !== 'string' || value.length > maxIdLength) throw malformed(name)
  if (value.includes('\0') || !value.isWellFormed()) throw malformed(name)
  return value
}

/** Text for people: at most 1,000 characters, without NUL, which PostgreSQL cannot store. */
export const messageOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value.slice(0, maxMessageLength).toWellFormed().replaceAll('\0', '\uFFFD')
    : undefined

/** An id, or the id of the object when the field is expanded. */
export const idOf = (value: unknown, name: string): string | undefined =>
  typeof value === 'object' ? textOf(objectOf(value)['id'], `${name}.id`) : textOf(value, name)

/** A whole number of cents. */
export const amountOf = (value: unknown, name: string): number | undefined => {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > maxAmount) throw malformed(name)
  return value
}

/** Seconds since 1970, as ISO 8601. */
export const timeOf = (value: unknown, name: string): string | undefined => {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'number' || !(value >= 0 && value <= maxSeconds)) throw malformed(name)
  return new Date(value * 1_000).toISOString()
}

/** The value of a field that an event must have. */
export const required = <Value>(value: Value | undefined, name: string): Value => {
  if (value === undefined) throw malformed(name)
  return value
}
