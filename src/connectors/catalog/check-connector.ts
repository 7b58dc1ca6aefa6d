import { Ajv } from 'ajv'
import { Type } from 'typebox'
import { categories } from './definition.ts'
import type { Api, Connector, ConnectorTool, RequestTemplate } from './definition.ts'
import { placeholdersOf } from '../connections/templates.ts'

const Url = Type.String({ pattern: '^https://[a-z0-9.-]+(/[^ ?#]*)?$' })
const Texts = Type.Record(Type.String(), Type.String())
const Request = Type.Object({
  method: Type.Union(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => Type.Literal(method))),
  path: Type.String({ pattern: '^/' }),
})
const Account = Type.Object({
  from: Type.Union([Request, Type.Literal('token')]),
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
})

const Definition = Type.Object({
  slug: Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 30 }),
  name: Type.String({ minLength: 1, maxLength: 50 }),
  category: Type.Union(categories.map((category) => Type.Literal(category))),
  description: Type.String({ minLength: 10, maxLength: 300 }),
  auth: Type.Union([
    Type.Object({
      type: Type.Literal('oauth'),
      registrationUrl: Url,
      authorizeUrl: Url,
      tokenUrl: Url,
      scopes: Type.Array(Type.String({ pattern: '^[!-~]+$' })),
      account: Account,
    }),
    Type.Object({
      type: Type.Literal('api_key'),
      fields: Type.Array(
        Type.Object({
          key: Type.String({ pattern: '^[a-z][A-Za-z0-9]*$' }),
          label: Type.String({ minLength: 1 }),
          required: Type.Boolean(),
          secret: Type.Boolean(),
        }),
        { minItems: 1 },
      ),
      check: Type.Optional(Account),
    }),
    Type.Object({ type: Type.Literal('none') }),
  ]),
  api: Type.Object({
    baseUrl: Type.Optional(Url),
    pathPrefix: Type.Optional(Type.String({ pattern: '^/' })),
    headers: Type.Optional(Texts),
    basic: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
  }),
  tools: Type.Array(
    Type.Object({
      name: Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 32 }),
      description: Type.String({ minLength: 10, maxLength: 1_000 }),
      input: Type.Record(Type.String(), Type.Unknown()),
      isReadOnly: Type.Boolean(),
    }),
  ),
})

const isDefinition = new Ajv({ strict: false }).compile<Connector>(Definition)

const usedBy = ({ path, query, json, form }: RequestTemplate): string[] =>
  [path, query, json, form].flatMap((template) => placeholdersOf(template))

/** Unused arguments and placeholders without an argument: both are typing mistakes. */
const toolErrors = ({ name, input, required = [], request }: ConnectorTool): string[] => {
  const known = Object.keys(input)
  const undeclared = required.filter((property) => !known.includes(property))
  const errors = undeclared.map((property) => `${name} requires ${property}, which is not in its input`)
  if (typeof request === 'function') return errors
  const used = usedBy(request)
  const unknown = used.filter((property) => !known.includes(property))
  const unused = known.filter((property) => !used.includes(property))
  const optional = placeholdersOf(request.path).filter((property) => !required.includes(property))
  const inHeaders = Object.values(request.headers ?? {}).flatMap((value) => placeholdersOf(value))
  return [
    ...errors,
    ...unknown.map((property) => `${name} uses {${property}}, which is not in its input`),
    ...unused.map((property) => `${name} does not use its input ${property}`),
    ...optional.map((property) => `${name} has {${property}} in its path but does not require it`),
    ...inHeaders.map((property) => `${name} has {${property}} in a header`),
    ...(request.json !== undefined && request.form ? [`${name} sends both json and form`] : []),
  ]
}

const credentialsOf = ({ auth }: Connector): string[] => {
  if (auth.type === 'api_key') return auth.fields.map(({ key }) => key)
  return auth.type === 'oauth' ? ['accessToken', 'accountId'] : []
}

const apiErrors = (connector: Connector): string[] => {
  const { baseUrl, baseUrlField, pathPrefix, headers = {}, basic }: Api = connector.api
  const known = credentialsOf(connector)
  const used = [pathPrefix, ...Object.entries(headers).flat(), ...(basic ?? [])].flatMap((text) => placeholdersOf(text))
  const unknown = [...used, ...(baseUrlField === undefined ? [] : [baseUrlField])].filter(
    (name) => !known.includes(name),
  )
  const needsBaseUrl = baseUrlField === undefined && connector.auth.type !== 'none'
  return [
    ...unknown.map((name) => `api uses {${name}}, which is not a credential`),
    ...(baseUrl === undefined && needsBaseUrl ? ['api.baseUrl is missing'] : []),
    ...(connector.tools.length === 0 && !connector.isMcp && !connector.isA2a ? ['tools is empty'] : []),
  ]
}

/** Throws with every error of the definition. */
export const checkConnector = (definition: Connector): void => {
  const { slug } = definition
  if (!isDefinition(definition)) {
    const [first] = isDefinition.errors ?? []
    throw new Error(`connector ${slug}: ${first?.instancePath} ${first?.message}`)
  }
  const names = definition.tools.map(({ name }) => name)
  const errors = [
    ...(new Set(names).size === names.length ? [] : ['two tools share a name']),
    ...apiErrors(definition),
    ...definition.tools.flatMap(toolErrors),
  ]
  if (errors.length > 0) throw new Error(`connector ${slug}: ${errors.join('; ')}`)
}
