type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const maxParts = 200

/** Base64 or base64url, with or without padding. */
const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1

type Check = (value: unknown) => string | undefined

const isA =
  (type: 'string' | 'boolean', name: string): Check =>
  (value) =>
    // Absent and null are the same in both revisions.
    value === undefined || value === null || typeof value === type ? undefined : `must be ${name}`

const text = isA('string', 'a text')
const flag = isA('boolean', 'true or false')
const count: Check = (value) =>
  value === undefined || value === null || (Number.isSafeInteger(value) && Number(value) >= 0)
    ? undefined
    : 'must be a whole number from 0'
const texts: Check = (value) =>
  value === undefined || value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    ? undefined
    : 'must be a list of texts'
const bytes: Check = (value) =>
  text(value) ?? (typeof value !== 'string' || isBase64(value) ? undefined : 'must be base64')

/** The first mistake in an object, with the path to it. */
const inObject =
  (fields: Readonly<Record<string, (value: unknown, path: string) => string | undefined>>) =>
  (value: unknown, path: string): string | undefined => {
    if (value === undefined || value === null) return undefined
    if (!isObject(value)) return `${path} must be an object`
    for (const [key, check] of Object.entries(fields)) {
      const mistake = check(value[key], `${path}.${key}`)
      if (mistake !== undefined) return mistake
    }
    return undefined
  }

const at =
  (check: Check) =>
  (value: unknown, path: string): string | undefined => {
    const mistake = check(value)
    return mistake === undefined ? undefined : `${path} ${mistake}`
  }

const inPart = inObject({
  kind: at(text),
  text: at(text),
  raw: at(bytes),
  url: at(text),
  filename: at(text),
  mediaType: at(text),
  file: inObject({ bytes: at(bytes), uri: at(text), name: at(text), mimeType: at(text) }),
})

const contents = ['text', 'raw', 'url', 'data', 'file']

const inParts = (parts: unknown, path: string): string | undefined => {
  if (parts === undefined || parts === null) return undefined
  if (!Array.isArray(parts)) return `${path} must be a list`
  if (parts.length > maxParts) return `${path} must have at most ${maxParts} items`
  for (const [place, part] of parts.entries()) {
    const here = `${path}[${place}]`
    if (!isObject(part)) return `${here} must be an object`
    const mistake = inPart(part, here)
    if (mistake !== undefined) return mistake
    if (contents.filter((name) => part[name] !== undefined && part[name] !== null).length > 1) {
      return `${here} must have one content: ${contents.join(', ')}`
    }
  }
  return undefined
}

const inParams = inObject({
  id: at(text),
  taskId: at(text),
  contextId: at(text),
  pageToken: at(text),
  historyLength: at(count),
  message: inObject({
    kind: at(text),
    messageId: at(text),
    contextId: at(text),
    taskId: at(text),
    role: (value, path) => (typeof value === 'number' ? undefined : at(text)(value, path)),
    parts: inParts,
    referenceTaskIds: at(texts),
  }),
  configuration: inObject({
    blocking: at(flag),
    returnImmediately: at(flag),
    historyLength: at(count),
    acceptedOutputModes: at(texts),
  }),
})

/**
 * The first parameter of a request with a value of the wrong type. The library converts such values or fails with the
 * message of its own exception.
 */
export const mistakeInParams = (body: unknown): string | undefined =>
  isObject(body) ? inParams(body['params'], 'params') : undefined
