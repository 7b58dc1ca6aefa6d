import type { Type as TypeBox } from 'typebox'

/** Keywords of JSON Schema that go into a schema as they are. */
type Options = Record<string, unknown>
type Schema = Record<string, unknown>
type ObjectSchema = Schema & { properties: Record<string, Schema>; required?: string[] }

// Not part of the schema itself: a copy of an optional schema is not optional.
const optional = new WeakSet<object>()

const object = (properties: Record<string, Schema>, options?: Options): Schema => {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as Schema))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

const markOptional = (schema: Schema): Schema => {
  const copy = { ...schema }
  optional.add(copy)
  return copy
}

const builders = {
  Array: (items: Schema, options?: Options): Schema => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options): Schema => ({ type: 'boolean', ...options }),
  Enum: (values: unknown[], options?: Options): Schema => ({ enum: values, ...options }),
  Integer: (options?: Options): Schema => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options): Schema => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options): Schema => ({ type: 'null', ...options }),
  Number: (options?: Options): Schema => ({ type: 'number', ...options }),
  Object: object,
  Optional: markOptional,
  Partial: ({ properties }: ObjectSchema, options?: Options): Schema =>
    object(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, markOptional(one)])), options),
  Pick: ({ properties }: ObjectSchema, names: string[], options?: Options): Schema =>
    object(Object.fromEntries(names.map((name) => [name, properties[name] as Schema])), options),
  /** Keys are any strings. */
  Record: (_key: Schema, value: Schema, options?: Options): Schema => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Options): Schema => ({ type: 'string', ...options }),
  Union: (anyOf: Schema[], options?: Options): Schema => ({ anyOf, ...options }),
  Unknown: (options?: Options): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
}

/**
 * Builds JSON schemas whose types are known, as TypeBox does, and with its types. At run time a schema is a plain
 * object, and none of that library's seven hundred modules is loaded to make one.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>

export type { Static, TObject, TSchema, TUnsafe } from 'typebox'
