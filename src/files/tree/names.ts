import { badRequest } from '../../platform/http/errors.ts'
import { cutToBytes } from '../preview/formats/text.ts'

export const maxNameLength = 255
const maxKeyBytes = 2_600

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
 * sigmas as one. Some characters grow by that. Cut at 2,600 bytes, which only 217 notes of music and more exceed: an
 * index entry may have 2,704 with all that is in it.
 */
export const nameKeyOf = (name: string): string =>
  cutToBytes(name.normalize('NFC').toLowerCase().replaceAll('ς', 'σ'), maxKeyBytes)

/** A LIKE pattern for names that contain the text, which is taken letter for letter. */
export const searchPatternOf = (text: string): string => `%${nameKeyOf(text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
