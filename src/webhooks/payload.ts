import { parseJsonBody } from '../platform/json-body.ts'

const maxTypeLength = 255

/** Text as the database can keep it: no NUL, no half of a surrogate pair, not longer than `limit` characters. */
export const storable = (text: string, limit: number): string => {
  // A character has at most two units: what is cut here first is never shown.
  const clean = text
    .slice(0, limit * 2)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
  return clean.length <= limit ? clean : Array.from(clean).slice(0, limit).join('')
}

const isForm = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') === true

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const isRounded = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER

const asWritten = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  const source = context?.source ?? ''
  return isRounded(value) && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** The same with whole numbers that are too large for a number, such as ids, as they were written. */
const parseExactly = (text: string): unknown => {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !Object.values(value).some(isRounded)) return value
  try {
    return JSON.parse(text, asWritten) as unknown
  } catch {
    // Deeper than a reviver goes.
    return value
  }
}

/** The fields of a form; one that is nothing but `payload` carries JSON (GitHub, Slack). */
const parseForm = (text: string, parse: (text: string) => unknown): unknown => {
  const form = new URLSearchParams(text)
  const inner = form.size === 1 ? parse(form.get('payload') ?? '') : undefined
  return inner === undefined ? Object.fromEntries(form) : inner
}

/** What a body says, for reading ids and types from it. Undefined when it is neither JSON nor a form. */
export const parsePayload = (body: Buffer, contentType: string | undefined): unknown =>
  isForm(contentType) ? parseForm(body.toString('utf8'), parseExactly) : parseExactly(body.toString('utf8'))

/** A text or number of the payload by its name; undefined for anything else. */
export const fieldOf = (payload: unknown, name: string): string | undefined => {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, name)) return undefined
  const value = (payload as Record<string, unknown>)[name]
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What kind of event this is: said by the payload, else by the provider's own header, else `unknown`. */
export const typeOf = (payload: unknown, providerHeader: string | undefined): string => {
  const said = [fieldOf(payload, 'type'), fieldOf(payload, 'event'), providerHeader]
    .map((text) =>
      storable(text ?? '', maxTypeLength)
        .trim()
        .toLowerCase(),
    )
    .find((text) => text !== '')
  return said ?? 'unknown'
}

/**
 * A body as people read it in an event's record: the JSON or the form's fields, else the text. Null for an empty one.
 * JSON of more levels than any reader takes is shown as its text.
 */
export const shownPayload = (body: Buffer, contentType: string | null): unknown => {
  if (body.length === 0) return null
  if (isForm(contentType ?? undefined)) return parseForm(body.toString('utf8'), parseJson)
  try {
    return parseJsonBody(body)
  } catch {
    return body.toString('utf8')
  }
}

/** An allowlist as it is kept: trimmed, in lower case, each once. */
export const cleanEventTypes = (types: readonly string[]): string[] => [
  ...new Set(types.map((type) => type.trim().toLowerCase()).filter((type) => type !== '')),
]

/** Whether an allowlist lets a type through. An empty one lets everything; `invoice.*` all that begins with `invoice.` */
export const isWanted = (allowlist: readonly string[], type: string): boolean =>
  allowlist.length === 0 ||
  allowlist.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : one === type))
