// Reads the part of JSON Schema that the API uses for the data of events.

interface Schema {
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
}

export interface SchemaField {
  /** `files[].name` for the fields of the objects in a list. */
  name: string
  /** `string (uuid) | null` */
  type: string
  description: string
  isRequired: boolean
}

const typeOf = (schema: Schema): string => {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const types = [schema.type ?? 'any'].flat()
  return types
    .map((type) => {
      if (type === 'array') {
        const item = typeOf(schema.items ?? {})
        return item.includes(' ') ? `(${item})[]` : `${item}[]`
      }
      return type === 'string' && schema.format !== undefined ? `string (${schema.format})` : type
    })
    .join(' | ')
}

/** The fields of an object and of the objects in it. */
export const fieldsOf = ({ properties = {}, required = [] }: Schema, prefix = ''): SchemaField[] =>
  Object.entries(properties).flatMap(([key, schema]) => {
    const name = `${prefix}${key}`
    const { description = '' } = schema
    const inner = schema.items?.properties ? schema.items : schema
    return [
      { name, type: typeOf(schema), description, isRequired: required.includes(key) },
      ...fieldsOf(inner, inner === schema ? `${name}.` : `${name}[].`),
    ]
  })
