import { Ajv } from 'ajv'
import { Type } from 'typebox'
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
  description: Type.String({ minLength: 10, maxLength: 300 }),
  auth: Type.Union([
    Type.Object({
      type: Type.Literal('oauth'),
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

const pathNames = ({ path }: RequestTemplate): string[] => placeholdersOf(path)

/** Arguments that go nowhere and placeholders that nothing fills: both are typing mistakes. */
const toolFaults = ({ name, input, required = [], request }: ConnectorTool): string[] => {
  const known = Object.keys(input)
  const strange = required.filter((property) => !known.includes(property))
  const faults = strange.map((property) => `${name} requires ${property}, which it does not take`)
  if (typeof request === 'function') return faults
  const used = usedBy(request)
  const unknown = used.filter((property) => !known.includes(property))
  const unused = known.filter((property) => !used.includes(property))
  const open = pathNames(request).filter((property) => !required.includes(property))
  const constants = Object.values(request.headers ?? {}).flatMap((value) => placeholdersOf(value))
  return [
    ...faults,
    ...unknown.map((property) => `${name} fills in {${property}}, which it does not take`),
    ...unused.map((property) => `${name} takes ${property} and does nothing with it`),
    ...open.map((property) => `${name} has {${property}} in its path and does not require it`),
    ...constants.map((property) => `${name} has {${property}} in a header`),
    ...(request.json !== undefined && request.form ? [`${name} sends two bodies`] : []),
  ]
}

const credentialsOf = ({ auth }: Connector): string[] => {
  if (auth.type === 'api_key') return auth.fields.map(({ key }) => key)
  return auth.type === 'oauth' ? ['accessToken', 'accountId'] : []
}

const apiFaults = (connector: Connector): string[] => {
  const { baseUrl, baseUrlField, pathPrefix, headers = {}, basic }: Api = connector.api
  const known = credentialsOf(connector)
  const used = [pathPrefix, ...Object.entries(headers).flat(), ...(basic ?? [])].flatMap((text) => placeholdersOf(text))
  const unknown = [...used, ...(baseUrlField === undefined ? [] : [baseUrlField])].filter(
    (name) => !known.includes(name),
  )
  const isElsewhere = baseUrlField !== undefined || connector.auth.type === 'none'
  return [
    ...unknown.map((name) => `the API needs {${name}}, which is no credential`),
    ...(baseUrl === undefined && !isElsewhere ? ['the API has no base URL'] : []),
    ...(connector.tools.length === 0 && connector.isMcp !== true ? ['it has no tools'] : []),
  ]
}

/** The definition, when it is one. Throws with all that is wrong with it. */
export const checkConnector = (file: string, definition: Connector | undefined): Connector => {
  if (definition === undefined || !isDefinition(definition)) {
    const [first] = isDefinition.errors ?? []
    throw new Error(
      `src/connectors/catalog/definitions/${file}: ${first ? `${first.instancePath} ${first.message}` : 'no connector'}`,
    )
  }
  const names = definition.tools.map(({ name }) => name)
  const faults = [
    ...(file === `${definition.slug}.ts` ? [] : [`its slug is ${definition.slug}`]),
    ...(new Set(names).size === names.length ? [] : ['two tools have one name']),
    ...apiFaults(definition),
    ...definition.tools.flatMap(toolFaults),
  ]
  if (faults.length > 0) throw new Error(`src/connectors/catalog/definitions/${file}: ${faults.join('; ')}`)
  return definition
}
