import { badRequest } from '../../platform/http/errors.ts'
import { cleanJson, cleanText } from '../../platform/text/text.ts'
import type { OutputFormat, ResponseFormat } from './schemas.ts'

const maxSchemaBytes = 32_768

/** Keywords whose values are data and not schemas. */
const data = new Set(['const', 'enum', 'default', 'examples'])

const checkPattern = (pattern: string, place: string): void => {
  try {
    RegExp(pattern, 'u')
  } catch {
    throw badRequest(`responseFormat: the pattern at ${place} is not a valid regular expression`)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema that a JSON pointer names (RFC 6901). */
const schemaAt = (root: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce((schema: unknown, part) => {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(schema)) return (schema as unknown[])[Number(key)]
      return isObject(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined
    }, root)

interface Root {
  schema: unknown
  /** Schemas from which references come to an end, so that each chain of references is followed once. */
  ending: Set<unknown>
}

/** Follows references that lead to references: each must exist, and none may lead back to itself. */
const checkReference = (root: Root, reference: string, place: string): void => {
  const seen = new Set<unknown>()
  for (let next: unknown = reference; typeof next === 'string' && /^#(?:\/|$)/.test(next);) {
    let schema: unknown
    try {
      schema = schemaAt(root.schema, next.slice(1))
    } catch {
      schema = undefined
    }
    if (!isObject(schema) && typeof schema !== 'boolean') {
      throw badRequest(`responseFormat: the reference at ${place} leads to no schema`)
    }
    if (seen.has(schema)) throw badRequest(`responseFormat: the reference at ${place} leads to itself`)
    if (!isObject(schema) || root.ending.has(schema)) break
    seen.add(schema)
    next = schema['$ref']
  }
  for (const schema of seen) root.ending.add(schema)
}

/** Throws for what can only fail when a reply is validated, after it has been paid for. The depth is limited by its parser. */
const checkSchema = (schema: unknown, place: string, root: Root): void => {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema)) {
    const inner = `${place}/${keyword}`
    if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#')) {
      throw badRequest(`responseFormat: the reference at ${inner} must begin with #`)
    }
    if (keyword === '$ref' && typeof value === 'string') checkReference(root, value, inner)
    if (keyword === 'pattern' && typeof value === 'string') checkPattern(value, inner)
    if (keyword === 'patternProperties' && typeof value === 'object' && value !== null) {
      for (const pattern of Object.keys(value)) checkPattern(pattern, inner)
    }
    if (!data.has(keyword)) checkSchema(value, inner, root)
  }
}

/** Checks the format of a request. Null for text; BAD_REQUEST for a schema that is too large or cannot be used. */
export const readResponseFormat = (given: ResponseFormat | undefined): OutputFormat | null => {
  if (given === undefined || given.type === 'text') return null
  const { type, name, description, strict } = given
  const schema = cleanJson(given.schema) as OutputFormat['schema']
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) {
    throw badRequest(`responseFormat: schema must have at most ${maxSchemaBytes} bytes as JSON`)
  }
  checkSchema(schema, '#', { schema, ending: new Set() })
  return {
    type,
    schema,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description: cleanText(description) }),
    ...(strict === undefined ? {} : { strict }),
  }
}

/** Tells a model that has no field for a schema what to respond. */
export const formatInstructions = ({ schema, description }: OutputFormat): string =>
  [
    'Respond with nothing but one JSON value that matches the following JSON Schema: no explanation, no Markdown.',
    ...(description === undefined ? [] : [description]),
    JSON.stringify(schema),
  ].join('\n')

/** Asks for another reply in place of one that does not match. */
export const repairRequest = (mistake: string): string =>
  `Your last response does not match the required JSON Schema. ${mistake} Respond again, with nothing but the corrected JSON.`
