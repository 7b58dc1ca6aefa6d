import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import type { FastifySchema, RouteOptions } from 'fastify'
import { statusOfCode } from '../../src/platform/http/errors.ts'
import type { ErrorCode } from '../../src/platform/http/errors.ts'
import { apiPrefix } from '../../src/platform/http/http.ts'
import { createExamples } from './examples.ts'
import type { Json } from './examples.ts'
import { errorTexts, introduction, tagTexts } from './texts.ts'
import { webhooksOf } from './webhooks.ts'

type JsonObject = Record<string, Json>
interface Operation extends JsonObject {
  parameters: Json[]
  responses: Record<string, JsonObject>
}
/** An OpenAPI 3.1 document. */
export interface OpenApi extends JsonObject {
  paths: Record<string, Record<string, Operation>>
  /** Requests that the server sends, by event type. */
  webhooks: Record<string, Json>
  components: { schemas: Record<string, Json> } & JsonObject
}

const root = fileURLToPath(new URL('../..', import.meta.url))

const pascal = (code: string): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const errorResponse = (code: ErrorCode): Json => ({
  description: errorTexts[code],
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Failure' },
      example: { success: false, error: { code, message: errorTexts[code] } },
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
        'Session cookie of a person who is signed in to the console. Over HTTPS its name is `__Host-atrium.session_token`. Requests that change something also need a matching `Origin` header.',
    },
  },
  schemas: {
    Failure: {
      type: 'object',
      required: ['success', 'error'],
      properties: {
        success: { type: 'boolean', const: false, description: 'Always false.' },
        error: {
          type: 'object',
          description: 'The error.',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string', enum: Object.keys(statusOfCode), description: 'Stable error code.' },
            message: { type: 'string', description: 'Explanation for people. It may change.' },
          },
        },
      },
    },
  } as Record<string, Json>,
  parameters: {
    WorkspaceId: header(
      'X-Workspace-Id',
      { type: 'string', format: 'uuid' },
      'ID of the workspace of the call. Default: the workspace of the API key, else the default workspace of the org.',
    ),
    IdempotencyKey: header(
      'Idempotency-Key',
      { type: 'string', maxLength: 255 },
      'Key that makes the request safe to repeat, 1–255 characters: it is carried out once in 24 hours.',
    ),
    IfMatch: header(
      'If-Match',
      { type: 'string' },
      '`ETag` of the version that you read. CONFLICT when the resource has changed since.',
    ),
    StepUpToken: header('X-Step-Up-Token', { type: 'string' }, 'Token from `POST /auth/step-up`.'),
  },
  responses: Object.fromEntries(
    (Object.keys(errorTexts) as ErrorCode[]).map((code) => [pascal(code), errorResponse(code)]),
  ) as Record<string, Json>,
}

const marker = 'x-component'
/** Stores the examples of an object under another key, because the library would move them out of the schema. */
const exampleMarker = 'x-kept-examples'

/** Names of the exported schemas by their JSON. A schema in the document that has the same JSON gets the name. */
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

/** Writes `anyOf` of constants as `enum`, and `anyOf` of one type and null as a list of types: shorter to read. */
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

/** A copy in which every named schema carries its name. */
const marked = (schema: unknown, names: Map<string, string>): Json => {
  if (typeof schema !== 'object' || schema === null) return schema as Json
  if (Array.isArray(schema)) return schema.map((one) => marked(one, names))
  const name = names.get(JSON.stringify(schema))
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, marked(value, names)]))
  const { examples, ...rest } = simplified(copy)
  return {
    ...(name === undefined ? {} : { [marker]: name }),
    ...rest,
    ...(examples === undefined ? {} : { [exampleMarker]: examples }),
  }
}

const successes: Record<string, string> = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.', 204: 'No content.' }

const withPermission = (description: string, { config }: RouteOptions): string => {
  const access = config?.access
  const { accessWithoutToken } = config ?? {}
  if (accessWithoutToken !== undefined) {
    return `${description}\n\nRequires a \`token\`, or the permission \`${accessWithoutToken}\`.`
  }
  if (access === 'public') return `${description}\n\nRequires no API key.`
  if (access === 'member') return `${description}\n\nRequires an API key or a session, but no permission.`
  return `${description}\n\nRequires the permission \`${access}\`.`
}

/** Fields with a default are optional for the caller, although validation always sets them for the handler. */
const withoutDefaulted = (schema: Json): Json => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { properties, required } = schema as { properties?: JsonObject; required?: string[] }
  if (properties === undefined || required === undefined) return schema
  const left = required.filter((name) => !Object.hasOwn(properties[name] as JsonObject, 'default'))
  const { required: _, ...rest } = schema
  return left.length === 0 ? rest : { ...rest, required: left }
}

/** The method, without HEAD of a route that supports GET as well. */
const methodOf = ({ method }: RouteOptions): string => {
  const all = [method].flat()
  return all.length === 1 ? String(all[0]) : all.filter((one) => one !== 'HEAD').join()
}

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
  const { summary, description, tags, body, querystring, params, response, ...rest } = route.schema ?? {}
  if (summary === undefined || description === undefined || tags === undefined || response === undefined) {
    throw new Error(`${methodOf(route)} ${route.url} needs a summary, a description, tags and a response schema`)
  }
  return {
    ...rest,
    summary,
    description: withPermission(description, route),
    tags,
    operationId: operationIdOf(route),
    response: marked(response, names),
    ...(params === undefined ? {} : { params: marked(params, new Map()) }),
    ...(querystring === undefined ? {} : { querystring: withoutDefaulted(marked(querystring, new Map())) }),
    ...(body === undefined ? {} : { body: withoutDefaulted(marked(body, names)) }),
  }
}

const isHidden = ({ schema }: RouteOptions): boolean => schema?.hide === true

/** The errors that follow from the shape of a route, and those that it declares (`config.errors`). */
const errorsOf = (route: RouteOptions): ErrorCode[] => {
  const { access, rateLimit, idempotency, errors: own = [] } = route.config ?? {}
  const method = methodOf(route)
  const hasParams = route.url.includes(':')
  // Every request can be malformed: NUL in its query, a body that cannot be read.
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
  const { access, accessWithoutToken, idempotency } = route.config ?? {}
  if (accessWithoutToken !== undefined) {
    return ['WorkspaceId', 'IfMatch'].map((name) => ({ $ref: `#/components/parameters/${name}` }))
  }
  if (access === 'public') return []
  const method = methodOf(route)
  const names = ['WorkspaceId']
  if (method === 'POST' && idempotency !== false) names.push('IdempotencyKey')
  // A route of another protocol describes its headers itself.
  const isChange = (method === 'PATCH' || method === 'DELETE') && route.schema?.headers === undefined
  if (isChange && /:(?:id|version)$/.test(route.url)) names.push('IfMatch')
  if (/\brequires step-up\b/i.test(route.schema?.description ?? '')) names.push('StepUpToken')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

/** Adds what follows from the kind of a route: error responses, parameters and security. */
const complete = (operation: Operation, route: RouteOptions): Operation => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response['description'] === 'Default Response') response['description'] = successes[status] ?? 'Success.'
  }
  for (const code of errorsOf(route)) {
    operation.responses[statusOfCode[code]] ??= { $ref: `#/components/responses/${pascal(code)}` }
  }
  operation.parameters = [...(operation.parameters ?? []), ...parametersOf(route)]
  if (operation.parameters.length === 0) Reflect.deleteProperty(operation, 'parameters')
  const credentials = [{ apiKey: [] }, { session: [] }]
  if (route.config?.accessWithoutToken !== undefined) operation['security'] = [{}, ...credentials]
  else operation['security'] = route.config?.access === 'public' ? [] : credentials
  const { deprecated, events = [] } = route.config ?? {}
  if (events.length > 0) operation['x-events'] = [...events]
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
  const { [marker]: name, [exampleMarker]: examples, ...plain } = value
  const rest: JsonObject = examples === undefined ? plain : { ...plain, examples }
  const inner = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, withReferences(one, schemas)]))
  if (typeof name !== 'string') return inner
  if (schemas[name] !== undefined && JSON.stringify(schemas[name]) !== JSON.stringify(inner)) {
    throw new Error(`two different schemas are called ${name}`)
  }
  schemas[name] = inner
  return { $ref: `#/components/schemas/${name}` }
}

/** Adds an example to every request and every successful response that has a body. */
const addExamples = (paths: OpenApi['paths'], schemas: Record<string, Json>): void => {
  const exampleOf = createExamples(schemas)
  const add = (body: Json | undefined, path: string): void => {
    const { content = {} } = (body ?? {}) as { content?: Record<string, JsonObject> }
    for (const media of Object.values(content)) {
      const example = media['example'] ?? exampleOf(media['schema'], path)
      if (example !== undefined) media['example'] = example
    }
  }
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    const id = operation['operationId'] as string
    add(operation['requestBody'], id)
    for (const [status, response] of Object.entries(operation.responses)) if (status.startsWith('2')) add(response, id)
  }
}

const sorted = <T>(record: Record<string, T>, compare?: (a: string, b: string) => number): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (compare ?? ((x, y) => (x < y ? -1 : 1)))(a, b)))

const methods = ['options', 'head', 'get', 'post', 'put', 'patch', 'delete']

/** The OpenAPI document of these routes, in an order that does not depend on how they were registered. */
export const openApiOf = async (routes: RouteOptions[]): Promise<OpenApi> => {
  // The framework adds HEAD to every GET.
  const readable = new Set(routes.filter(({ method }) => [method].flat().includes('GET')).map(({ url }) => url))
  const isAdded = (route: RouteOptions): boolean => methodOf(route) === 'HEAD' && readable.has(route.url)
  const shown = routes.filter((route) => !isHidden(route) && !isAdded(route))
  const names = await namedSchemas()
  const app = fastify({ routerOptions: { maxParamLength: 512 } })
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Atrium',
        version,
        description: introduction,
        contact: { name: 'The operator of this server' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
    },
  })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => () => '')
  for (const route of shown) {
    const schema = documented(route, names)
    const config = methodOf(route) === 'HEAD' ? { swagger: { exposeHeadRoute: true } } : {}
    app.route({ method: methodOf(route), url: route.url, schema, config, handler: () => '' })
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
  addExamples(paths, schemas)
  const toComponent = (schema: unknown, name: string): Json =>
    withReferences({ ...(marked(JSON.parse(JSON.stringify(schema)), names) as JsonObject), [marker]: name }, schemas)
  const webhooks = webhooksOf(toComponent, (schema, id) => createExamples(schemas)(schema, id))
  const tags = [...new Set(shown.flatMap(({ schema }) => schema?.tags ?? []))].toSorted()
  return {
    openapi: '3.1.0',
    info: raw['info'] as Json,
    servers: raw['servers'] as Json,
    security: [{ apiKey: [] }],
    tags: tags.map((name) => ({ name, description: tagTexts[name] ?? '' })),
    paths: sorted(
      Object.fromEntries(
        Object.entries(paths).map(([path, operations]) => [
          path,
          sorted(operations, (a, b) => methods.indexOf(a) - methods.indexOf(b)),
        ]),
      ),
    ),
    webhooks: sorted(webhooks),
    components: { ...components, schemas: sorted(schemas) },
  }
}
