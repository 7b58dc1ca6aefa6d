import { cleanText } from '../../platform/text/text.ts'

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** Cleans text that comes in pieces: a pair that was cut in two stays whole. */
export const createTextCleaner = (): ((piece: string) => string) => {
  let held = ''
  return (piece) => {
    const text = held + piece
    const cut = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length
    held = text.slice(cut)
    return cleanText(text.slice(0, cut))
  }
}

/** Cleans every text in a JSON value, keys included. */
export const cleanJson = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanJson(inner)]))
}
