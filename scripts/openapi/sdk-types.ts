import type { OpenApi } from './openapi.ts'
import { errorsOf, operationsOf, optionsOf } from './operations.ts'
import type { Operation, Schema } from './operations.ts'
import { eventSchemaName } from './webhooks.ts'

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`

/** `orUndefined` is the type that optional fields have besides their own, for callers with exactOptionalPropertyTypes. */
const objectType = (
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
  orUndefined = '',
): string => {
  const names = Object.keys(properties)
  if (names.length === 0) {
    if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties, indent)}>`
    return 'Record<string, unknown>'
  }
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description, inner)}${inner}${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}${required.includes(name) ? '' : orUndefined}\n`,
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
  return [`    ${place === 'path' ? 'params' : 'query'}${optional}: ${objectType(schema, '    ', ' | undefined')}\n`]
}

const union = (names: string[]): string => names.map((name) => `'${name}'`).join(' | ')

const header = '// Made from docs/openapi.json by `npm run generate`.\n'

/** The routes for which the API documents the header `Idempotency-Key`, as a module of the SDK. */
export const sdkIdempotentRoutes = (document: OpenApi): string => {
  const names = operationsOf(document)
    .filter(([, operation]) => optionsOf(operation).includes('idempotencyKey'))
    .map(([name]) => `  '${name}',\n`)
  return [
    header,
    `/** Routes that execute requests with the same \`Idempotency-Key\` once. */\nexport const idempotentRoutes: ReadonlySet<string> = new Set([\n${names.join('')}])\n`,
  ].join('\n')
}

/** The types of the SDK: every named schema, and every route with its request and response. */
export const sdkTypes = (document: OpenApi): string => {
  const { webhooks, components } = document
  const schemas = Object.entries(components.schemas as Record<string, Schema>).map(([name, schema]) => {
    const type = typeOf(schema, '')
    return type.startsWith('{') && schema.anyOf === undefined
      ? `export interface ${name} ${type}\n`
      : `export type ${name} = ${type}\n`
  })
  const routes = operationsOf(document).map(([name, operation]) => {
    const options = optionsOf(operation)
    const parts = [
      ...parametersOf(operation, 'path'),
      ...parametersOf(operation, 'query'),
      ...bodyOf(operation),
      `    data: ${dataOf(operation)}\n`,
      `    errors: ${union(errorsOf(operation))}\n`,
      ...(options.length === 0 ? [] : [`    options: ${union(options)}\n`]),
    ]
    return `${comment(operation.summary, '  ')}  '${name}': {\n${parts.join('')}  }\n`
  })
  const events = Object.keys(webhooks).map((type) => `  '${type}': ${eventSchemaName(type)}\n`)
  return [
    header,
    ...schemas,
    `/**
 * Every route below /api/v1 with its request, the \`data\` of its response, the codes of its errors, and the options
 * of the client whose headers it accepts.
 */\nexport interface Routes {\n${routes.join('')}}\n`,
    `/** The bodies of deliveries to event endpoints, by event type. */\nexport interface EventTypes {\n${events.join('')}}\n`,
    `/** The body of any delivery to an event endpoint; \`type\` tells which. */\nexport type AtriumEvent = EventTypes[keyof EventTypes]\n`,
  ].join('\n')
}
