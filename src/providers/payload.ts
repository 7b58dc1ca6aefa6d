import { badRequest } from '../platform/http/errors.ts'
import { maxFormFields, parseFormFields } from '../platform/http/form-fields.ts'
import { parseJsonBody } from '../platform/http/json-body.ts'
import { headerOf } from '../platform/signatures/signed-request.ts'
import type { SignedRequest } from '../platform/signatures/signed-request.ts'

/** The value at a path of keys, undefined if any of them is missing. */
export const at = (value: unknown, ...path: (string | number)[]): unknown => {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string | number, unknown>)[key]
  }
  return found
}

/** The non-empty text or the number at a path, as text. Large integers are bigints if the body was parsed exactly. */
export const textAt = (value: unknown, ...path: (string | number)[]): string | undefined => {
  const found = at(value, ...path)
  if (typeof found === 'string') return found === '' ? undefined : found
  return typeof found === 'number' || typeof found === 'bigint' ? String(found) : undefined
}

/** The integer at a path, if it fits a PostgreSQL bigint. */
export const integerAt = (value: unknown, ...path: (string | number)[]): bigint | undefined => {
  const found = textAt(value, ...path)
  return found !== undefined && /^-?\d{1,19}$/.test(found) && BigInt.asIntN(64, BigInt(found)) === BigInt(found)
    ? BigInt(found)
    : undefined
}

export const isFormType = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') === true

export const isForm = (request: SignedRequest): boolean => isFormType(headerOf(request, 'content-type'))

/** A JSON object. BAD_REQUEST for anything else. */
export const readJson = (bytes: Buffer): Record<string, unknown> => {
  const value = parseJsonBody(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The body is not a JSON object.')
  }
  return value as Record<string, unknown>
}

/** The fields of a form, the first of each name. BAD_REQUEST for too many of them and for text that cannot be stored. */
export const readForm = (bytes: Buffer): Record<string, string> => {
  const form = parseFormFields(bytes)
  if (!form) throw badRequest(`The form has more than ${maxFormFields} fields.`)
  const fields: Record<string, string> = {}
  for (const [name, value] of form) {
    if (value.includes('\0') || !value.isWellFormed()) throw badRequest('The body contains text that cannot be stored.')
    if (!Object.hasOwn(fields, name) && name !== '__proto__') fields[name] = value
  }
  return fields
}
