import type { OpenApi } from './openapi.ts'
import { nameOf, operationsOf, optionsOf } from './operations.ts'
import type { Operation, Schema } from './operations.ts'
import { eventSchemaName } from './webhooks.ts'

const keywords = new Set([
  'class',
  'continue',
  'def',
  'del',
  'from',
  'global',
  'import',
  'in',
  'is',
  'lambda',
  'not',
  'or',
  'pass',
  'return',
  'with',
])
const isPlain = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name)
const text = (value: unknown): string =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
const snake = (name: string): string => name.replaceAll(/(?=[A-Z])/g, '_').toLowerCase()
const comment = (description: string | undefined, indent = ''): string =>
  description === undefined ? '' : `${indent}# ${description.replaceAll('\n', `\n${indent}# `)}\n`

/** Python's classes for the objects of a document, which have names in Python and often none in the document. */
const createClasses = () => {
  const made = new Map<string, string>()

  const fieldOf = (owner: string, [name, schema]: [string, Schema], isRequired: boolean): string => {
    const type = typeOf(schema, owner + pascal(name))
    return isRequired ? type : `NotRequired[${type}]`
  }

  const define = (name: string, { properties = {}, required = [] }: Schema): string => {
    const fields = Object.entries(properties).map((entry) => ({
      name: entry[0],
      type: fieldOf(name, entry, required.includes(entry[0])),
      description: entry[1].description,
    }))
    const isClass = fields.every((field) => isPlain(field.name))
    const lines = fields.map(({ name: field, type, description }) =>
      isClass
        ? `${comment(description, '    ')}    ${field}: ${type}\n`
        : `${comment(description, '        ')}        ${JSON.stringify(field)}: ${JSON.stringify(type).replaceAll(String.raw`\"`, "'")},\n`,
    )
    const code = isClass
      ? `class ${name}(TypedDict):\n${lines.join('') || '    pass\n'}`
      : `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('')}    },\n)\n`
    if ((made.get(name) ?? code) !== code) throw new Error(`two different classes are called ${name}`)
    made.set(name, code)
    return name
  }

  const objectOf = (schema: Schema, name: string): string => {
    if (Object.keys(schema.properties ?? {}).length > 0) return define(name, schema)
    const { additionalProperties } = schema
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, `${name}Value`) : 'Any'
    return `dict[str, ${values}]`
  }

  const plainTypes: Record<string, string> = { integer: 'int', number: 'float', boolean: 'bool', null: 'None' }

  const typeOf = (schema: Schema, name: string): string => {
    if (schema.$ref !== undefined) return nameOf(schema)
    if (schema.const !== undefined) return `Literal[${text(schema.const)}]`
    if (schema.enum) return `Literal[${schema.enum.map(text).join(', ')}]`
    if (schema.anyOf) {
      return [...new Set(schema.anyOf.map((one, i) => typeOf(one, `${name}${i + 1}`)))].join(' | ')
    }
    const types = [schema.type ?? (schema.properties ? 'object' : [])].flat()
    if (types.length === 0) return 'Any'
    return types
      .map((type) => {
        if (type === 'object') return objectOf(schema, name)
        if (type === 'array') return `list[${typeOf(schema.items ?? {}, `${name}Item`)}]`
        if (type === 'string') return schema.format === 'binary' ? 'bytes' : 'str'
        return plainTypes[type] ?? 'Any'
      })
      .join(' | ')
  }

  return { made, typeOf, define }
}

const header = '# Made from docs/openapi.json by `npm run generate`.\n'

interface Call {
  route: string
  operation: Operation
  operationId: string
}

/** The keyword arguments of a call and the type of its data. */
const signatureOf = ({ operation, operationId }: Call, { typeOf, define }: ReturnType<typeof createClasses>) => {
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
  const argumentsOf: string[] = []
  const { parameters = [] } = operation
  const path = parameters.filter((one) => one.in === 'path').map((one) => one.name)
  if (path.length > 0) {
    const properties = Object.fromEntries(path.map((one) => [one, { type: 'string' }]))
    argumentsOf.push(`params: ${define(`${path.map(pascal).join('')}Params`, { properties, required: path })}`)
  }
  const query = parameters.filter((one) => one.in === 'query')
  if (query.length > 0) {
    const properties = Object.fromEntries(
      query.map(({ name: field, description, schema }) => [field, { ...schema, description } as Schema]),
    )
    const required = query.filter((one) => one.required === true).map((one) => one.name)
    const type = define(`${name}Query`, { properties, required })
    argumentsOf.push(required.length > 0 ? `query: ${type}` : `query: ${type} | None = ...`)
  }
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema ?? {}, `${name}Body`) : 'RawBody',
  )
  if (bodies.length > 0) argumentsOf.push(`body: ${[...new Set(bodies)].join(' | ')}`)
  argumentsOf.push(...optionsOf(operation).map((option) => `${snake(option)}: str | None = ...`))
  argumentsOf.push('headers: Mapping[str, str] | None = ...', 'timeout: float | None = ...')
  const data = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => {
      const schema = content?.['application/json']?.schema?.properties?.['data']
      return schema === undefined ? [] : [typeOf(schema, `${name}Data`)]
    })
  return { argumentsOf, data: [...new Set(data)].join(' | ') || 'None' }
}

/** The module `types.py` of the Python client: a TypedDict for every object, and the signatures of all calls. */
export const pythonTypes = (document: OpenApi): string => {
  const { components, webhooks } = document
  const classes = createClasses()
  const schemas = Object.entries(components.schemas as Record<string, Schema>)
  const aliases: string[] = []
  for (const [name, schema] of schemas) {
    const type = classes.typeOf(schema, name)
    if (type !== name) aliases.push(`${name}: TypeAlias = "${type.replaceAll('"', "'")}"\n`)
  }
  const calls: Call[] = operationsOf(document).map(([route, operation]) => {
    const { operationId } = operation as unknown as { operationId: string }
    return { route, operation, operationId }
  })
  const overloads = calls.map((call) => {
    const { argumentsOf, data } = signatureOf(call, classes)
    const of = (method: string, result: string): string =>
      `    @overload\n    def ${method}(\n        self,\n        route: Literal["${call.route}"],\n        *,\n${argumentsOf
        .map((one) => `        ${one},\n`)
        .join('')}    ) -> ${result}: ...\n`
    return { call: of('call', data), full: of('call_with_response', `Result[${data}]`) }
  })
  const events = Object.keys(webhooks).map(eventSchemaName)
  const codes = (schemas.find(([name]) => name === 'Failure')?.[1].properties?.['error']?.properties?.['code']?.enum ??
    []) as string[]
  const idempotent = calls.filter(({ operation }) => optionsOf(operation).includes('idempotencyKey'))
  return [
    `${header}from __future__ import annotations\n
from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, NotRequired, TypeAlias, TypedDict, TypeVar, overload
`,
    `T = TypeVar("T")\n`,
    `# A body that is not JSON: bytes and their media type.\nRawBody: TypeAlias = tuple[bytes, str]\n`,
    `ErrorCode: TypeAlias = Literal[${[...codes, 'NETWORK', 'TIMEOUT', 'INVALID_RESPONSE'].map(text).join(', ')}]\n`,
    `# Routes that execute requests with the same Idempotency-Key once.\nIDEMPOTENT_ROUTES: Final = frozenset(\n    {\n${idempotent
      .map(({ route }) => `        "${route}",\n`)
      .join('')}    }\n)\n`,
    ...classes.made.values(),
    ...aliases,
    `# The body of any delivery to an event endpoint; \`type\` tells which.\nAtriumEvent: TypeAlias = "${events.join(' | ')}"\n`,
    `class Result(Generic[T]):\n    """A successful response with its data."""\n
    data: T
    # Version of the resource, for if_match.
    etag: str | None
    # Whether the request with this idempotency key was executed before. Then data contains no secrets.
    is_replayed: bool
    status: int
    # By lower-case names.
    headers: dict[str, str]

    def __init__(self, data: T, status: int, headers: dict[str, str]) -> None:
        self.data = data
        self.status = status
        self.headers = headers
        self.etag = headers.get("etag")
        self.is_replayed = headers.get("idempotency-replayed") == "true"
`,
    `class Calls:
    """The signatures of all routes. Client implements them."""\n
${overloads.map((one) => one.call).join('\n')}
    def call(self, route: str, **sent: Any) -> Any:
        """Calls a route and returns its data. Raises an AtriumError."""
        return self._request(route, sent).data\n
${overloads.map((one) => one.full).join('\n')}
    def call_with_response(self, route: str, **sent: Any) -> Any:
        """Calls a route and returns its data, ETag, status and headers. Raises an AtriumError."""
        return self._request(route, sent)\n
    def _request(self, route: str, sent: dict[str, Any]) -> Result[Any]:
        raise NotImplementedError
`,
  ].join('\n\n')
}
