const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** Whether PostgreSQL can store the text: it rejects NUL and unpaired surrogates. */
export const isCleanText = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The text without NUL, and with U+FFFD for unpaired surrogates, so that PostgreSQL can store it. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** The first characters of a text, cleaned, and without the half of a surrogate pair at the end. */
export const cutText = (text: string, max: number): string => {
  const end = text.length > max && isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max
  return cleanText(text.slice(0, end))
}

/**
 * A name that a stranger chose, for one line of our own text: without control and format characters, which could reverse
 * or hide what follows, and with single spaces.
 */
export const cutName = (text: string, max: number): string =>
  cutText(
    text
      .replaceAll(/\p{Cf}/gu, '')
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    max,
  )

/** Cleans text that arrives in pieces. A surrogate pair that is split between two pieces is kept. */
export const createTextCleaner = (): ((piece: string) => string) => {
  let pending = ''
  return (piece) => {
    const text = pending + piece
    const end = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length
    pending = text.slice(end)
    return cleanText(text.slice(0, end))
  }
}

/** Cleans every text in a JSON value, including the names of fields. */
export const cleanJson = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanJson(inner)]))
}

/** The longest prefix of whole characters that fits into `bytes` of UTF-8. */
export const firstBytes = (text: string, bytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read)
