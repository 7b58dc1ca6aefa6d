import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import type { FastifySchema, RouteOptions } from 'fastify'
import { statusOfCode } from '../src/platform/http/errors.ts'
import type { ErrorCode } from '../src/platform/http/errors.ts'
import { apiPrefix } from '../src/platform/http/http.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = Record<string, Json>
interface Operation extends JsonObject {
  parameters: Json[]
  responses: Record<string, JsonObject>
}
/** An OpenAPI 3.1 document. */
export interface OpenApi extends JsonObject {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> } & JsonObject
}

const root = fileURLToPath(new URL('..', import.meta.url))

const about = `One envelope for every answer: \`{ "success": true, "data": … }\` or \`{ "success": false, "error": { "code", "message" } }\`. \`error.code\` is stable; \`error.message\` is for people and may change.

**Authentication.** \`Authorization: Bearer <API key>\`. A key works in one workspace, the one that \`X-Workspace-Id\` names, else the key's own, else the organisation's default one.

**Ids** are UUIDs, times ISO 8601 in UTC with milliseconds, money whole cents (\`…Cents\`) or microcents (\`…Microcents\`, 10,000 a cent). What belongs to another organisation or workspace is answered like what does not exist.

**Lists** take \`limit\` (1 to 100) and \`cursor\`, and answer \`nextCursor\`, null on the last page. Unknown query parameters and body fields are ignored.

**Repeating safely.** A POST with an \`Idempotency-Key\` is carried out once; for 24 hours the same request under the same key gets the same answer. Single resources carry an \`ETag\`; PATCH and DELETE take it as \`If-Match\` and answer CONFLICT when somebody was faster.

**Rate limits** are token buckets, one for each key and kind of request. Answers carry \`RateLimit-Policy\` (\`"reads";q=600;w=60\`: 600 in 60 seconds) and \`RateLimit\` (\`"reads";r=599;t=1\`: 599 left, all of them again in 1 second); a refusal carries \`Retry-After\`.

**Changes.** Within v1 things are only added. A route that will go answers \`Deprecation\` and \`Sunset\` headers for at least 12 months before it does. Every answer carries \`X-Request-Id\`, which finds it in the server's log.`

const errors: Record<ErrorCode, string> = {
  BAD_REQUEST: 'The body, the query or a header is malformed.',
  UNAUTHORIZED: 'No API key, or one that is malformed, unknown, revoked or expired.',
  PAYMENT_REQUIRED: "The organisation's balance is used up.",
  FORBIDDEN: 'The caller may not do this, or not in this workspace.',
  NOT_FOUND: 'There is no such thing, or none that the caller may see.',
  CONFLICT: 'It collides with what is there: a newer version, a taken name, a request under the same Idempotency-Key.',
  VALIDATION_ERROR: 'The request is well-formed, but makes no sense now.',
  TOO_MANY_REQUESTS: 'A rate limit is used up. `Retry-After` tells the seconds to wait.',
  INTERNAL_ERROR: 'A failure inside the server, found in its log by `X-Request-Id`.',
  SERVICE_UNAVAILABLE: 'Something that the server needs is away for the moment.',
}

const pascal = (code: string): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const errorResponse = (code: ErrorCode): Json => ({
  description: errors[code],
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Failure' },
      example: { success: false, error: { code, message: errors[code] } },
    },
  },
})

const header = (name: string, schema: Json, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  schema,
  description,
})

const components = {
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `atr_<environment>_<random>`.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'atrium.session_token',
      description:
        'The cookie of a person who signed in to the console, by https with the name `__Host-atrium.session_token`; changes need a matching `Origin`, too.',
    },
  },
  schemas: {
    Failure: {
      type: 'object',
      required: ['success', 'error'],
      properties: {
        success: { type: 'boolean', const: false },
        error: {
          type: 'object',
          required: ['code', 'message'],
          properties: { code: { type: 'string', enum: Object.keys(statusOfCode) }, message: { type: 'string' } },
        },
      },
    },
  } as Record<string, Json>,
  parameters: {
    WorkspaceId: header('X-Workspace-Id', { type: 'string', format: 'uuid' }, 'The workspace of this call.'),
    IdempotencyKey: header('Idempotency-Key', { type: 'string', maxLength: 255 }, 'Carries the request out once.'),
    IfMatch: header(
      'If-Match',
      { type: 'string' },
      'The ETag of the version that is meant; CONFLICT when it is older.',
    ),
    StepUpToken: header('X-Step-Up-Token', { type: 'string' }, 'The token that `POST /auth/step-up` answered.'),
  },
  responses: Object.fromEntries(
    (Object.keys(errors) as ErrorCode[]).map((code) => [pascal(code), errorResponse(code)]),
  ) as Record<string, Json>,
}

const marker = 'x-component'

/** The exported schemas of every area by what they look like, so that the document can call them by name. */
const namedSchemas = async (): Promise<Map<string, string>> => {
  const names = new Map<string, string>()
  for (const file of globSync('src/**/*schemas.ts', { cwd: root }).toSorted()) {
    const exported = (await import(pathToFileURL(root + file).href)) as Record<string, unknown>
    for (const [name, schema] of Object.entries(exported)) {
      const isNamed = typeof schema === 'object' && schema !== null && ('properties' in schema || 'anyOf' in schema)
      if (!isNamed || /(Params|Query)$/.test(name)) continue
      const text = JSON.stringify(schema)
      if (!names.has(text)) names.set(text, name)
    }
  }
  return names
}

/** `anyOf` of fixed texts is an enum, and of one plain type and null a type that may be null: shorter to read. */
const simplified = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema as { anyOf?: JsonObject[] }
  if (anyOf === undefined) return schema
  const texts = anyOf.filter(({ const: text }) => typeof text === 'string')
  const nulls = anyOf.filter(({ type }) => type === 'null')
  const [other, ...more] = anyOf.filter((one) => !texts.includes(one) && !nulls.includes(one))
  const orNull = (type: string): Json => (nulls.length === 0 ? type : [type, 'null'])
  if (texts.length > 0 && other === undefined) {
    const values = [...texts.map((one) => one['const'] as Json), ...nulls.map(() => null)]
    return { ...rest, type: orNull('string'), enum: values }
  }
  if (texts.length === 0 && nulls.length === 1 && typeof other?.['type'] === 'string' && more.length === 0) {
    if (other[marker] === undefined && other['enum'] === undefined)
      return { ...rest, ...other, type: orNull(other['type']) }
  }
  return schema
}

/** A copy without what only validation needs, in which every named schema carries its name. */
const marked = (schema: unknown, names: Map<string, string>): Json => {
  if (typeof schema !== 'object' || schema === null) return schema as Json
  if (Array.isArray(schema)) return schema.map((one) => marked(one, names))
  const name = names.get(JSON.stringify(schema))
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, marked(value, names)]))
  return { ...(name === undefined ? {} : { [marker]: name }), ...simplified(copy) }
}

const successes: Record<string, string> = { 200: 'Done', 201: 'Created', 202: 'Taken on', 204: 'Nothing to tell' }

/** What has a default may be left out: a caller sees it as optional, although the handler always gets it. */
const withoutDefaulted = (schema: Json): Json => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { properties, required } = schema as { properties?: JsonObject; required?: string[] }
  if (properties === undefined || required === undefined) return schema
  const left = required.filter((name) => !Object.hasOwn(properties[name] as JsonObject, 'default'))
  const { required: _, ...rest } = schema
  return left.length === 0 ? rest : { ...rest, required: left }
}

const methodOf = ({ method }: RouteOptions): string =>
  [method]
    .flat()
    .filter((one) => one !== 'HEAD')
    .join()

/** `GET /api/v1/files/:id/preview` → `getFilesByIdPreview` */
const operationIdOf = (route: RouteOptions): string =>
  methodOf(route).toLowerCase() +
  route.url
    .replace(apiPrefix, '')
    .split(/[/._-]/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith(':') ? `By${part.charAt(1).toUpperCase()}${part.slice(2)}` : part))
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

const documented = (route: RouteOptions, names: Map<string, string>): FastifySchema => {
  const { summary, tags, body, querystring, params, response, ...rest } = route.schema ?? {}
  if (summary === undefined || tags === undefined || response === undefined) {
    throw new Error(`${methodOf(route)} ${route.url} needs a summary, tags and a response schema`)
  }
  return {
    ...rest,
    summary,
    tags,
    operationId: operationIdOf(route),
    response: marked(response, names),
    ...(params === undefined ? {} : { params }),
    ...(querystring === undefined ? {} : { querystring: withoutDefaulted(marked(querystring, new Map())) }),
    ...(body === undefined ? {} : { body: withoutDefaulted(marked(body, names)) }),
  }
}

const isHidden = ({ schema }: RouteOptions): boolean => schema?.hide === true

/** The refusals that a route of this shape can answer, beside those that it declares (`config.errors`). */
const errorsOf = (route: RouteOptions): ErrorCode[] => {
  const { access, rateLimit, idempotency, errors: own = [] } = route.config ?? {}
  const method = methodOf(route)
  const hasParams = route.url.includes(':')
  // A request may be malformed in ways that no route asks about: NUL in its query, a body that cannot be read.
  const codes: ErrorCode[] = [...own, 'BAD_REQUEST', 'INTERNAL_ERROR']
  if (hasParams) codes.push('NOT_FOUND')
  if (access !== 'public') codes.push('UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE')
  else if (rateLimit !== undefined && rateLimit !== 'none') codes.push('TOO_MANY_REQUESTS')
  if (
    access !== 'public' &&
    ((method === 'POST' && idempotency !== false) || method === 'PATCH' || method === 'DELETE')
  ) {
    codes.push('CONFLICT')
  }
  return codes
}

const parametersOf = (route: RouteOptions): Json[] => {
  const { access, idempotency } = route.config ?? {}
  if (access === 'public') return []
  const method = methodOf(route)
  const names = ['WorkspaceId']
  if (method === 'POST' && idempotency !== false) names.push('IdempotencyKey')
  if ((method === 'PATCH' || method === 'DELETE') && route.url.endsWith('/:id')) names.push('IfMatch')
  if (/\bstep-up\b/i.test(route.schema?.description ?? '')) names.push('StepUpToken')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

/** What holds for every route by its kind, so that no route has to say it. */
const complete = (operation: Operation, route: RouteOptions): Operation => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response['description'] === 'Default Response') response['description'] = successes[status] ?? 'Done'
  }
  for (const code of errorsOf(route)) {
    operation.responses[statusOfCode[code]] ??= { $ref: `#/components/responses/${pascal(code)}` }
  }
  operation.parameters = [...(operation.parameters ?? []), ...parametersOf(route)]
  if (operation.parameters.length === 0) Reflect.deleteProperty(operation, 'parameters')
  operation['security'] = route.config?.access === 'public' ? [] : [{ apiKey: [] }, { session: [] }]
  const { deprecated } = route.config ?? {}
  if (deprecated !== undefined) {
    operation['deprecated'] = true
    operation['x-deprecated-since'] = deprecated.since
    operation['x-sunset'] = deprecated.sunset
  }
  return operation
}

/** Moves every marked schema to the components and leaves a reference. */
const withReferences = (value: Json, schemas: Record<string, Json>): Json => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => withReferences(one, schemas))
  const { [marker]: name, ...rest } = value
  const inner = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, withReferences(one, schemas)]))
  if (typeof name !== 'string') return inner
  if (schemas[name] !== undefined && JSON.stringify(schemas[name]) !== JSON.stringify(inner)) {
    throw new Error(`two different schemas are called ${name}`)
  }
  schemas[name] = inner
  return { $ref: `#/components/schemas/${name}` }
}

const sorted = <T>(record: Record<string, T>, compare?: (a: string, b: string) => number): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (compare ?? ((x, y) => (x < y ? -1 : 1)))(a, b)))

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The OpenAPI document of these routes, in an order that does not depend on how they were registered. */
export const openApiOf = async (routes: RouteOptions[]): Promise<OpenApi> => {
  const shown = routes.filter((route) => !isHidden(route) && methodOf(route) !== '')
  const names = await namedSchemas()
  const app = fastify({ routerOptions: { maxParamLength: 512 } })
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Atrium', version, description: about }, servers: [{ url: '/' }] },
  })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => () => '')
  for (const route of shown) {
    const schema = documented(route, names)
    app.route({ method: methodOf(route), url: route.url, schema, handler: () => '' })
  }
  await app.ready()
  const raw = JSON.parse(JSON.stringify(app.swagger())) as OpenApi
  await app.close()
  for (const route of shown) {
    const path = raw.paths[route.url.replaceAll(/:(\w+)/g, '{$1}')]
    const method = methodOf(route).toLowerCase()
    if (path?.[method] === undefined) throw new Error(`${route.url} is missing in the document`)
    complete(path[method], route)
  }
  const schemas = { ...components.schemas }
  const paths = withReferences(raw.paths, schemas) as OpenApi['paths']
  const tags = [...new Set(shown.flatMap(({ schema }) => schema?.tags ?? []))].toSorted()
  return {
    openapi: '3.1.0',
    info: raw['info'] as Json,
    servers: raw['servers'] as Json,
    security: [{ apiKey: [] }],
    tags: tags.map((name) => ({ name })),
    paths: sorted(
      Object.fromEntries(
        Object.entries(paths).map(([path, operations]) => [
          path,
          sorted(operations, (a, b) => methods.indexOf(a) - methods.indexOf(b)),
        ]),
      ),
    ),
    components: { ...components, schemas: sorted(schemas) },
  }
}
