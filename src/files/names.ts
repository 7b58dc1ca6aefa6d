import { badRequest } from '../platform/errors.ts'

export const maxNameLength = 255

/**
 * A name as it is stored: whatever was sent, untouched. Names are data, never paths or keys, so `../` and `con` are
 * as good as any. Throws BAD_REQUEST for one that is empty, longer than 255 code points or has NUL, CR or LF.
 */
export const checkName = (name: string): string => {
  if (name === '') throw badRequest('name must not be empty')
  // Code points are never more than UTF-16 units, so nearly every name is decided without counting.
  if (name.length > maxNameLength && [...name].length > maxNameLength) {
    throw badRequest(`name must have at most ${maxNameLength} characters`)
  }
  if (/[\0\r\n]/.test(name)) throw badRequest('name must not contain NUL, CR or LF')
  return name
}

/**
 * What lists sort by and searches match: composed (macOS sends names decomposed), in lower case, with the two small
 * sigmas as one. Cut at 255 code points: a few characters grow when they are composed, and an index entry may not
 * exceed 2,704 bytes.
 */
export const nameKeyOf = (name: string): string => {
  const key = name.normalize('NFC').toLowerCase().replaceAll('ς', 'σ')
  return key.length > maxNameLength ? [...key].slice(0, maxNameLength).join('') : key
}

/** A LIKE pattern for names that contain the text, which is taken letter for letter. */
export const searchPatternOf = (text: string): string => `%${nameKeyOf(text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
