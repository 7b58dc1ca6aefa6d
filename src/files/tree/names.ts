import { badRequest } from '../../platform/http/errors.ts'
import { cutToBytes } from '../preview/formats/text.ts'

export const maxNameLength = 255
const maxKeyBytes = 2_600

/**
 * Characters by which a name looks like another one: control characters, also those of lines, and those that change the
 * direction of the text after them.
 */
export const deceptive = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/**
 * Checks a name and returns it unchanged. Names are never used as paths or object keys, so `../` and `con` are valid.
 * Throws BAD_REQUEST for a name that is empty, longer than 255 code points, or has NUL, CR or LF.
 */
export const checkName = (name: string): string => {
  if (name === '') throw badRequest(`name must be 1–${maxNameLength} characters`)
  // A string has no more code points than UTF-16 units, so most names need no counting.
  if (name.length > maxNameLength && [...name].length > maxNameLength) {
    throw badRequest(`name must be 1–${maxNameLength} characters`)
  }
  if (/[\0\r\n]/.test(name)) throw badRequest('name must not contain NUL, CR or LF')
  return name
}

/**
 * The key that lists sort by and searches match: NFC (macOS sends NFD), lower case, with both lower-case sigmas as one.
 * Cut at 2,600 bytes, because an index entry may have 2,704 bytes in total. Only names of at least 217 characters that
 * grow under NFC, such as musical symbols, are cut.
 */
export const nameKeyOf = (name: string): string =>
  cutToBytes(name.normalize('NFC').toLowerCase().replaceAll('ς', 'σ'), maxKeyBytes)

/** A LIKE pattern for names that contain the text literally. */
export const searchPatternOf = (text: string): string => `%${nameKeyOf(text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
