import { badRequest } from '../../platform/http/errors.ts'
import { maxFormFields, parseFormFields } from '../../platform/http/form-fields.ts'
import { parseJsonBody } from '../../platform/http/json-body.ts'
import { isForm } from './receiver.ts'
import type { Inbound } from './receiver.ts'

/** A JSON object. BAD_REQUEST for anything else. */
export const readJson = (bytes: Buffer): Record<string, unknown> => {
  const value = parseJsonBody(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The body is not a JSON object.')
  }
  return value as Record<string, unknown>
}

/** The fields of a form, the first of each name. */
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

/** A JSON object, sent as it is or in the field `payload` of a form. */
export const readJsonOrPayload = (inbound: Inbound): Record<string, unknown> => {
  if (!isForm(inbound)) return readJson(inbound.body)
  const { payload } = readForm(inbound.body)
  if (payload === undefined) throw badRequest('The form has no payload.')
  return readJson(Buffer.from(payload))
}
