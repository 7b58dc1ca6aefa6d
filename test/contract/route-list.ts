import type { RouteOptions } from 'fastify'
import type { App } from '../../src/platform/http/http.ts'

/** One method of one route. */
export interface Route {
  method: string
  url: string
  /** `PATCH /api/v1/files/:id` */
  name: string
  access: string
  options: RouteOptions
  /** Names of its path parameters. */
  params: string[]
}

/** Every route of the server, one entry per method, without HEAD. */
export const routesOf = (app: App): Route[] =>
  app.routeTable.flatMap((options) =>
    [options.method]
      .flat()
      .filter((method) => method !== 'HEAD')
      .map((method) => ({
        method,
        url: options.url,
        name: `${method} ${options.url}`,
        access: String(options.config?.access),
        options,
        params: [...options.url.matchAll(/:(\w+)/g)].map(([, name]) => name ?? ''),
      })),
  )

/** The path of a route with these parameters in it. */
export const pathOf = (url: string, params: Record<string, string>): string =>
  url.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`no ${name} for ${url}`)
    return encodeURIComponent(value)
  })

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  minProperties?: number
  items?: Schema
  minItems?: number
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  minLength?: number
  minimum?: number
  default?: unknown
  content?: Record<string, { schema: Schema }>
}

const texts: Record<string, string> = {
  uuid: '019aa3f0-0000-7000-8000-00000000abcd',
  'date-time': '2099-01-01T00:00:00.000Z',
  email: 'somebody@example.com',
  uri: 'https://example.com/',
}

const objectOf = (schema: Schema): Record<string, unknown> => {
  const { properties = {}, required = [], minProperties = 0 } = schema
  const names = new Set(required)
  for (const name of Object.keys(properties)) if (names.size < minProperties) names.add(name)
  return Object.fromEntries([...names].map((name) => [name, sampleOf(properties[name] ?? {})]))
}

/** A small value that is valid by the schema. */
export const sampleOf = (schema: Schema): unknown => {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {})
  switch (schema.type) {
    case 'string':
      return texts[schema.format ?? ''] ?? 'sample-text'.padEnd(schema.minLength ?? 0, 'x')
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}))
    case 'object':
      return objectOf(schema)
    default:
      return 'sample'
  }
}

/** The schema of a route's JSON body. */
export const bodySchemaOf = ({ options }: Route): Schema | undefined => {
  const body = options.schema?.body as Schema | undefined
  return body?.content ? body.content['application/json']?.schema : body
}

export const querySchemaOf = ({ options }: Route): Schema | undefined =>
  options.schema?.querystring as Schema | undefined

/** Whether a schema has a field that names a file or folder, at any depth. */
const namesFiles = (schema: unknown, depth = 0): boolean => {
  if (typeof schema !== 'object' || schema === null || depth > 20) return false
  return Object.entries(schema).some(
    ([key, value]) =>
      (key === 'properties' &&
        Object.keys(value as object).some((name) =>
          /^(file|fileId|fileIds|file_id|targetFileId|folderId|parentId|storageKey)$/.test(name),
        )) ||
      namesFiles(value, depth + 1),
  )
}
/** Whether a route takes or returns files, by its path and the fields of its schemas. */
export const takesFiles = ({ url, options }: Route): boolean =>
  !url.startsWith('/files') && (/\/files(\/|$)/.test(url) || url === '/mcp' || namesFiles(options.schema))
