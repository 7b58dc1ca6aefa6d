import { parseFormFields } from '../../platform/http/form-fields.ts'
import { parseJsonBody } from '../../platform/http/json-body.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'

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

/** JSON that is shown, so written again: by a recursive function, to which deep JSON is fatal. */
const parseShallowJson = (text: string): unknown => {
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

const isRounded = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER

/** An id has a few dozen digits. Those of a megabyte take 0.4 s to convert. */
const wholeNumber = /^-?\d{1,100}$/

/**
 * The same with whole numbers among its fields that are too large for a number, such as ids, as they were written. Their
 * text is found in one pass: a reviver for JSON.parse is called for each of half a million values.
 */
const parseExactly = (text: string): unknown => {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = value as Record<string, unknown>
  if (!Object.values(fields).some(isRounded)) return value
  for (const [name, source] of new Map(fieldTexts(text))) {
    if (Object.hasOwn(fields, name) && isRounded(fields[name]) && wholeNumber.test(source)) {
      fields[name] = BigInt(source)
    }
  }
  return value
}

const quote = 34
const backslash = 92
const isOpening = (code: number): boolean => code === 123 || code === 91
const isClosing = (code: number): boolean => code === 125 || code === 93

/** The names of an object's own fields and the text of each value that begins with a digit or a minus. */
const fieldTexts = function* (text: string): Generator<[string, string]> {
  let depth = 0
  let name = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isOpening(code)) depth += 1
    else if (isClosing(code)) depth -= 1
    else if (code === quote) {
      const from = at
      for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at++) {
        if (text.charCodeAt(at) === backslash) at += 1
      }
      // A value that is a text is taken for a name as well; the name that comes after it takes its place.
      if (depth === 1) name = text.slice(from, at + 1)
    } else if (depth === 1 && (code === 45 || (code >= 48 && code <= 57))) {
      const from = at
      while (at < text.length && !',}'.includes(text.charAt(at))) at += 1
      yield [JSON.parse(name) as string, text.slice(from, at).trim()]
      at -= 1
    }
  }
}

/** The fields of a form; one that is nothing but `payload` carries JSON (GitHub, Slack). Undefined for too many. */
const parseForm = (body: Buffer, parse: (text: string) => unknown): unknown => {
  const form = parseFormFields(body)
  if (!form) return undefined
  const inner = form.size === 1 ? parse(form.get('payload') ?? '') : undefined
  return inner === undefined ? Object.fromEntries(form) : inner
}

/** What a body says, for reading ids and types from it. Undefined when it is neither JSON nor a form. */
export const parsePayload = (body: Buffer, contentType: string | undefined): unknown =>
  isForm(contentType) ? parseForm(body, parseExactly) : parseExactly(body.toString('utf8'))

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
  if (isForm(contentType ?? undefined)) return parseForm(body, parseShallowJson) ?? body.toString('utf8')
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
