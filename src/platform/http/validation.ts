import { Ajv } from 'ajv'
import type { AnySchemaObject, ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import fastJsonStringify from 'fast-json-stringify'
import type { Schema as AnswerSchema } from 'fast-json-stringify'
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { badRequest } from './errors.ts'
import type { ApiError } from './errors.ts'
import { removerOf } from './known-fields.ts'
import { isUuid } from '../ids.ts'
import { isStorable } from '../text/moments.ts'

const compilerOf = (coerce: boolean): Ajv => {
  const ajv = new Ajv({
    coerceTypes: coerce,
    useDefaults: true,
    removeAdditional: false,
    allErrors: false,
    strict: false,
    verbose: true, // the messages below name the alternatives of the schema that failed
  })
  addFormats.default(ajv)
  // ajv-formats accepts values that PostgreSQL rejects: `urn:uuid:…`, second 60, offsets of a day.
  ajv.addFormat('uuid', { type: 'string', validate: isUuid })
  const isRfcTime = ajv.formats['date-time'] as { validate: (text: string) => boolean }
  ajv.addFormat('date-time', { type: 'string', validate: (text: string) => isRfcTime.validate(text) && isMoment(text) })
  // Unknown properties of an object are ignored, as everywhere in the API.
  ajv.removeKeyword('minProperties')
  ajv.addKeyword({
    keyword: 'minProperties',
    type: 'object',
    schemaType: 'number',
    errors: false,
    validate: (limit: number, data: object, { properties }: AnySchemaObject = {}) =>
      Object.keys(data).filter((name) => properties === undefined || Object.hasOwn(properties, name)).length >= limit,
  })
  return ajv
}

/** Whether an RFC 3339 time can be stored: the date exists and is in the years 1–9999 in UTC. */
const isMoment = (text: string): boolean => {
  const offsetHours = Number(/[+-](\d\d):?\d\d$/.exec(text.slice(10))?.[1] ?? 0)
  return isStorable(Date.parse(text)) && offsetHours <= 15
}

interface Check {
  (data: unknown): boolean
  errors?: FastifySchemaValidationError[] | null
}

// Schemas are compiled at the first request of a route: compiling all of them takes 15 MB and half a second, and most
// servers use few routes. test/contract/routes.test.ts finds schemas that do not compile.
const checkLater = (compile: () => Check): Check => {
  let compiled: Check | undefined
  const check: Check = (data) => {
    compiled ??= compile()
    const valid = compiled(data)
    check.errors = compiled.errors ?? null
    return valid
  }
  return check
}

/**
 * The validators of the parts of a request. Types in a body must match; values of a query or path are text and are
 * converted to the type in the schema.
 */
const createCheckCompiler = () => {
  const strict = compilerOf(false)
  const coercing = compilerOf(true)
  return (schema: object, part: string | undefined): Check => (part === 'body' ? strict : coercing).compile(schema)
}

/**
 * Removes fields that the schema does not name from data that is valid: handlers pass bodies on and spread them, and an `id`
 * or `orgId` of the caller must not replace one of the server.
 */
const withoutUnknown = (check: Check, schema: AnySchemaObject): Check => {
  const remove = removerOf(schema)
  if (remove === undefined) return check
  const strict: Check = (data) => {
    const valid = check(data)
    strict.errors = check.errors ?? null
    if (valid) remove(data)
    return valid
  }
  return strict
}

// Other protocols have rules of their own for fields that their schemas do not name.
const isOwnApi = (url: string): boolean => url.startsWith('/api/v1/')

type Serialize = (data: unknown) => string

const compileSerializer = (schema: object): Serialize => fastJsonStringify(schema as AnswerSchema)

type Content = { content?: Record<string, { schema: object }> }

const schemasIn = (one: unknown): object[] => {
  if (one === undefined) return []
  const { content } = one as Content
  return content === undefined ? [one as object] : Object.values(content).map(({ schema }) => schema)
}

/** Compiles every schema of a route, for a test of all routes. Throws for an invalid schema. */
export const compileEverySchema = ({ body, querystring, params, response = {} }: Record<string, unknown>): void => {
  const compile = createCheckCompiler()
  for (const schema of schemasIn(body)) compile(schema, 'body')
  for (const schema of [querystring, params].flatMap(schemasIn)) compile(schema, undefined)
  for (const schema of Object.values(response as object).flatMap(schemasIn)) compileSerializer(schema)
}

// Several servers of a process, as in tests, share what was compiled: Ajv, too, remembers schemas by their identity.
let compileCheck: ReturnType<typeof createCheckCompiler> | undefined
const serializers = new WeakMap<object, Serialize>()

/** Validates requests and serialises responses by the schemas of their routes. */
export const registerValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema, httpPart, url }) => {
    const check = checkLater(() => (compileCheck ??= createCheckCompiler())(schema, httpPart))
    return httpPart === 'body' && isOwnApi(url) ? withoutUnknown(check, schema) : check
  })
  app.setSerializerCompiler(({ schema }) => (data) => {
    let serialize = serializers.get(schema)
    if (serialize === undefined) {
      serialize = compileSerializer(schema)
      serializers.set(schema, serialize)
    }
    return serialize(data)
  })
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

/** The error message of one field. */
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

/** The error of a request that does not match the schema of its route. */
export const validationFailure = (
  errors: FastifySchemaValidationError[],
  context: string,
  cause: unknown,
): ApiError => {
  const last = errors.at(-1)
  // A union fails in every branch; the relevant one is the branch that failed on more than the type.
  const meant =
    last?.keyword === 'anyOf' && errors.find((one) => !['type', 'const', 'enum', 'anyOf'].includes(one.keyword))
  const worst = meant || last
  return badRequest(worst ? describe(worst, context) : 'The request is not valid', { cause })
}
