import { parseFormFields } from '../../platform/http/form-fields.ts'
import { parseJsonBody } from '../../platform/http/json-body.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { isFormType, textAt } from '../../providers/payload.ts'

const maxTypeLength = 255

/** Text that PostgreSQL can store: without NUL and lone surrogates, at most `limit` characters. */
export const storable = (text: string, limit: number): string => {
  // A character has at most two UTF-16 units. Cutting first bounds the work for a text of 1 MB.
  const clean = text
    .slice(0, limit * 2)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
  return clean.length <= limit ? clean : Array.from(clean).slice(0, limit).join('')
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** JSON for responses. Deep JSON would overflow the stack of the recursive serializer, so it counts as unparsable. */
const parseShallowJson = (text: string): unknown => {
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

const isRounded = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER

/** Converting 1 MB of digits to a bigint takes 0.4 s. Ids have at most a few dozen digits. */
const wholeNumber = /^-?\d{1,100}$/

/**
 * Parses JSON and keeps top-level integers beyond 2^53, such as ids, exactly as bigints. Their text is found in one
 * pass over the body; a reviver for JSON.parse would be called for each of up to half a million values.
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

/** The top-level fields of an object whose value is a number: their names and the text of the value. */
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
      // A string value is remembered as a name as well, until the next name replaces it.
      if (depth === 1) name = text.slice(from, at + 1)
    } else if (depth === 1 && (code === 45 || (code >= 48 && code <= 57))) {
      const from = at
      while (at < text.length && !',}'.includes(text.charAt(at))) at += 1
      yield [JSON.parse(name) as string, text.slice(from, at).trim()]
      at -= 1
    }
  }
}

/** The fields of a form, or the JSON in its only field `payload` (GitHub, Slack). Undefined for too many fields. */
const parseForm = (body: Buffer, parse: (text: string) => unknown): unknown => {
  const form = parseFormFields(body)
  if (!form) return undefined
  const inner = form.size === 1 ? parse(form.get('payload') ?? '') : undefined
  return inner === undefined ? Object.fromEntries(form) : inner
}

/** The body parsed for reading ids and types. Undefined if it is neither JSON nor a form. */
export const parsePayload = (body: Buffer, contentType: string | undefined): unknown =>
  isFormType(contentType) ? parseForm(body, parseExactly) : parseExactly(body.toString('utf8'))

/** The event type: `type` or `event` of the payload, else the provider's header, else `unknown`; in lower case. */
export const typeOf = (payload: unknown, providerHeader: string | undefined): string => {
  const type = [textAt(payload, 'type'), textAt(payload, 'event'), providerHeader]
    .map((text) =>
      storable(text ?? '', maxTypeLength)
        .trim()
        .toLowerCase(),
    )
    .find((text) => text !== '')
  return type ?? 'unknown'
}

/**
 * The payload in an event's record: the JSON, the fields of a form, else the text; null for an empty body. JSON that is
 * nested too deeply to be serialized again is returned as text.
 */
export const shownPayload = (body: Buffer, contentType: string | null): unknown => {
  if (body.length === 0) return null
  if (isFormType(contentType ?? undefined)) return parseForm(body, parseShallowJson) ?? body.toString('utf8')
  try {
    return parseJsonBody(body)
  } catch {
    return body.toString('utf8')
  }
}

/** Normalizes an allowlist: trimmed, in lower case, without duplicates. */
export const cleanEventTypes = (types: readonly string[]): string[] => [
  ...new Set(types.map((type) => type.trim().toLowerCase()).filter((type) => type !== '')),
]

/**
 * Whether an allowlist contains a type. An empty one contains all; `invoice.*` matches all types with the prefix
 * `invoice.`
 */
export const isWanted = (allowlist: readonly string[], type: string): boolean =>
  allowlist.length === 0 ||
  allowlist.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : one === type))
