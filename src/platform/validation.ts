import { Ajv } from 'ajv'
import type { ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { badRequest } from './errors.ts'
import type { ApiError } from './errors.ts'

const compilerOf = (coerce: boolean): Ajv => {
  const ajv = new Ajv({
    coerceTypes: coerce,
    useDefaults: true,
    removeAdditional: false,
    allErrors: false,
    strict: false,
    verbose: true, // the messages below name the alternatives of the schema that refused
  })
  addFormats.default(ajv)
  return ajv
}

/** A body's types are taken at their word; a query or a path is text and is read as the type that the schema names. */
export const registerValidation = (app: FastifyInstance): void => {
  const strict = compilerOf(false)
  const coercing = compilerOf(true)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? strict.compile(schema as object) : coercing.compile(schema as object),
  )
}

const fieldOf = (error: Pick<ErrorObject, 'instancePath'>, context: string): string => {
  const path = error.instancePath.split('/').slice(1)
  if (path.length === 0) return context === 'querystring' ? 'The query' : 'The body'
  return path
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}

const within = (path: string, name: string): string => {
  const prefix = path.split('/').slice(1).join('.')
  return prefix === '' ? name : `${prefix}.${name}`
}

const typeNames: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

type Schema = {
  type?: string
  const?: string | number | boolean
  anyOf?: Schema[]
  enum?: (string | number)[]
  format?: string
}

const alternatives = (schema: Schema): string[] =>
  (schema.anyOf ?? [schema]).flatMap((one) => {
    if (one.const !== undefined) return [String(one.const)]
    if (one.enum) return one.enum.map(String)
    return one.anyOf ? alternatives(one) : [typeNames[one.type ?? ''] ?? 'another type']
  })

const listed = (words: string[]): string => [...new Set(words)].join(' or ')

const formatNames: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'an ISO 8601 time',
  email: 'an e-mail address',
}

/** What is wrong with one field, for the person who sent it. */
export const describe = (error: FastifySchemaValidationError & { parentSchema?: Schema }, context: string): string => {
  const field = fieldOf(error, context)
  const params = error.params as Record<string, string | number>
  switch (error.keyword) {
    case 'required':
      return `${within(error.instancePath, String(params['missingProperty']))} is required`
    case 'type':
      return `${field} must be ${listed(
        String(params['type'])
          .split(',')
          .map((type) => typeNames[type] ?? type),
      )}`
    case 'minLength':
      return params['limit'] === 1
        ? `${field} must not be empty`
        : `${field} must have at least ${params['limit']} characters`
    case 'maxLength':
      return `${field} must have at most ${params['limit']} characters`
    case 'minimum':
    case 'exclusiveMinimum':
      return `${field} must be ${params['limit']} or more`
    case 'maximum':
    case 'exclusiveMaximum':
      return `${field} must be ${params['limit']} or less`
    case 'minItems':
    case 'maxItems':
      return `${field} must have ${error.keyword === 'minItems' ? 'at least' : 'at most'} ${params['limit']} items`
    case 'minProperties':
      return `${field} must name at least one field to change`
    case 'enum':
    case 'const':
    case 'anyOf':
      return `${field} must be ${listed(alternatives(error.parentSchema ?? {}))}`
    case 'format':
      return `${field} must be ${formatNames[String(params['format'])] ?? `a ${params['format']}`}`
    default:
      return `${field} ${error.message ?? 'is not valid'}`
  }
}

/** The answer to what a route's schema refused in the body, the query or the headers. */
export const validationFailure = (
  errors: FastifySchemaValidationError[],
  context: string,
  cause: unknown,
): ApiError => {
  const last = errors.at(-1)
  // A union fails in every branch; the branch that failed on more than its type is the one that was meant.
  const meant =
    last?.keyword === 'anyOf' && errors.find((one) => !['type', 'const', 'enum', 'anyOf'].includes(one.keyword))
  const worst = meant || last
  return badRequest(worst ? describe(worst, context) : 'The request is not valid', { cause })
}
