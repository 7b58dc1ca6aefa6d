import { Check } from 'typebox/value'
import { ApiError } from '../../platform/http/errors.ts'
import { readResponseFormat } from '../../sessions/output/response-format.ts'
import { ResponseFormat } from '../../sessions/output/schemas.ts'
import type { OutputFormat } from '../../sessions/output/schemas.ts'
import { invalid } from './errors.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const formatFields = new Set(['name', 'description', 'schema', 'strict'])

/** `response_format`: null for text. `json_object` is JSON of any object. */
export const readFormat = (given: unknown): OutputFormat | null => {
  if (given === undefined || given === null) return null
  const { type, json_schema: named } = given as Record<string, unknown>
  if (type === 'text') return null
  if (type === 'json_object') return readResponseFormat({ type: 'json_schema', schema: { type: 'object' } })
  if (type !== 'json_schema' || !isObject(named)) {
    throw invalid('response_format', 'response_format must be of the type text, json_object or json_schema')
  }
  const format = {
    ...Object.fromEntries(Object.entries(named).filter(([name, value]) => formatFields.has(name) && value !== null)),
    type,
    schema: named['schema'] ?? {},
  }
  if (typeof named['name'] !== 'string' || !Check(ResponseFormat, format)) {
    throw invalid('response_format', 'json_schema must have a name, and may have a schema, a description and strict')
  }
  try {
    return readResponseFormat(format)
  } catch (error) {
    throw error instanceof ApiError ? invalid('response_format', error.message) : error
  }
}
