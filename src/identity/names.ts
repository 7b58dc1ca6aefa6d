import { badRequest } from '../platform/http/errors.ts'

const maxNameLength = 120
const maxEmailLength = 254

/** A name as people meant it: no space around it, single spaces in it. BAD_REQUEST when nothing is left, or too much. */
export const cleanName = (name: string): string => {
  const clean = name.trim().replaceAll(/\s+/g, ' ')
  if (clean === '') throw badRequest('name must not be empty')
  if ([...clean].length > maxNameLength) throw badRequest(`name must have at most ${maxNameLength} characters`)
  return clean
}

/** E-mail addresses are compared, and so stored, in lower case. BAD_REQUEST for what cannot be one. */
export const cleanEmail = (email: string): string => {
  const clean = email.trim().toLowerCase()
  // Whether mail arrives there only mail can tell; `owner@localhost` is an address too.
  if (!/^[^\s@]+@[^\s@]+$/.test(clean) || clean.length > maxEmailLength)
    throw badRequest('email must be an e-mail address')
  return clean
}
