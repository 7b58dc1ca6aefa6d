import { badRequest } from '../platform/http/errors.ts'

const maxNameLength = 120
const maxEmailLength = 254

/** Trims a name and collapses white space. BAD_REQUEST unless 1–120 characters are left. */
export const cleanName = (name: string): string => {
  const clean = name.trim().replaceAll(/\s+/g, ' ')
  if (clean === '' || [...clean].length > maxNameLength) {
    throw badRequest(`name must be 1–${maxNameLength} characters`)
  }
  return clean
}

/** Email addresses are stored and compared in lower case. BAD_REQUEST for an invalid one. */
export const cleanEmail = (email: string): string => {
  const clean = email.trim().toLowerCase()
  // Deliberately lenient: `owner@localhost` is valid.
  if (!/^[^\s@]+@[^\s@]+$/.test(clean) || clean.length > maxEmailLength)
    throw badRequest('email must be an email address')
  return clean
}
