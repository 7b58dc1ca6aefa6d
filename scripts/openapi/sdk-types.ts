import type { OpenApi } from './openapi.ts'
import { eventSchemaName } from './webhooks.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  description?: string
  format?: string
}

interface Parameter {
  $ref?: string
  in?: string
  name: string
  required?: boolean
  schema: Schema
  description?: string
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

interface Operation {
  summary?: string
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

const prefix = '/api/v1'
const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`

const objectType = ({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string => {
  const names = Object.keys(properties)
  if (names.length === 0) {
    if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties, indent)}>`
    return 'Record<string, unknown>'
  }
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description, inner)}${inner}${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`,
  )
  const rest =
    additionalProperties === undefined || additionalProperties === false ? '' : `${inner}[key: string]: unknown\n`
  return `{\n${fields.join('')}${rest}${indent}}`
}

const arrayType = (items: string): string => (/[|&\s]/.test(items) ? `Array<${items}>` : `${items}[]`)

const plainTypes: Record<string, string> = { integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }

const typeOf = (schema: Schema, indent: string): string => {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeOf(one, indent)))].join(' | ')
  const types = [schema.type ?? (schema.properties ? 'object' : [])].flat()
  if (types.length === 0) return 'unknown'
  const made = types.map((type) => {
    if (type === 'object') return objectType(schema, indent)
    if (type === 'array') return arrayType(typeOf(schema.items ?? {}, indent))
    if (type === 'string') return schema.format === 'binary' ? 'Blob' : 'string'
    return plainTypes[type] ?? 'unknown'
  })
  return made.join(' | ')
}

const dataOf = ({ responses }: Operation): string => {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      const data = content?.['application/json']?.schema?.properties?.['data']
      if (data !== undefined) return typeOf(data, '    ')
      return content === undefined ? 'undefined' : 'unknown'
    })
  // A route with bytes and data returns bytes on request; one with bytes only is a redirect or a page.
  const told = types.filter((type) => type !== 'unknown')
  return told.length === 0 ? 'unknown' : [...new Set(told)].join(' | ')
}

const bodyOf = ({ requestBody }: Operation): string[] => {
  const content = Object.entries(requestBody?.content ?? {})
  if (content.length === 0) return []
  const types = content.map(([type, { schema }]) => {
    if (type === 'application/json') return typeOf(schema ?? {}, '    ')
    return type === 'multipart/form-data' ? 'FormData' : 'Blob'
  })
  return [`    body: ${[...new Set(types)].join(' | ')}\n`]
}

const parametersOf = ({ parameters = [] }: Operation, place: string): string[] => {
  const found = parameters.filter((one) => one.in === place)
  if (found.length === 0) return []
  const schema: Schema = {
    properties: Object.fromEntries(
      found.map((one) => [one.name, { description: one.description, ...one.schema } as Schema]),
    ),
    required: found.filter(({ required }) => required === true).map(({ name }) => name),
  }
  const optional = place === 'query' && schema.required?.length === 0 ? '?' : ''
  return [`    ${place === 'path' ? 'params' : 'query'}${optional}: ${objectType(schema, '    ')}\n`]
}

/** The types of the SDK: every named schema, and every route with its request and response. */
export const sdkTypes = ({ paths, webhooks, components }: OpenApi): string => {
  const schemas = Object.entries(components.schemas as Record<string, Schema>).map(([name, schema]) => {
    const type = typeOf(schema, '')
    return type.startsWith('{') && schema.anyOf === undefined
      ? `export interface ${name} ${type}\n`
      : `export type ${name} = ${type}\n`
  })
  const routes = Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, operations]) =>
      Object.entries(operations as unknown as Record<string, Operation>).map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path.slice(prefix.length).replaceAll(/\{(\w+)\}/g, ':$1')}`
        const parts = [
          ...parametersOf(operation, 'path'),
          ...parametersOf(operation, 'query'),
          ...bodyOf(operation),
          `    data: ${dataOf(operation)}\n`,
        ]
        return `${comment(operation.summary, '  ')}  '${name}': {\n${parts.join('')}  }\n`
      }),
    )
  const events = Object.keys(webhooks).map((type) => `  '${type}': ${eventSchemaName(type)}\n`)
  return [
    '// Made from docs/openapi.json by `npm run generate`.\n',
    ...schemas,
    `/** Every route below /api/v1 with its request and the \`data\` of its response. */\nexport interface Routes {\n${routes.join('')}}\n`,
    `/** The bodies of deliveries to event endpoints, by event type. */\nexport interface EventTypes {\n${events.join('')}}\n`,
    `/** The body of any delivery to an event endpoint; \`type\` tells which. */\nexport type AtriumEvent = EventTypes[keyof EventTypes]\n`,
  ].join('\n')
}
