import type { AnySchemaObject } from 'ajv'

/**
 * What a schema names in the objects and arrays that it accepts. Undefined when it accepts none, `any` when everything in
 * them is kept.
 */
interface Shape {
  object: undefined | 'any' | Fields
  array: undefined | 'any' | Shape
}

interface Fields {
  named: ReadonlyMap<string, Shape>
  /** Whether fields that are not named are kept. */
  isOpen: boolean
}

type Combine = (shapes: Shape[]) => Shape

const mergeFields = (all: Fields[], combine: Combine): Fields => {
  const shapes = Map.groupBy(
    all.flatMap(({ named }) => [...named]),
    ([name]) => name,
  )
  const named = [...shapes].map(([name, entries]) => [name, combine(entries.map(([, shape]) => shape))] as const)
  return { named: new Map(named), isOpen: all.some(({ isOpen }) => isOpen) }
}

/** What is named by all of these together: one that allows anything adds nothing. */
const intersect: Combine = (shapes) => {
  const join = <T extends object>(
    parts: (T | 'any' | undefined)[],
    merge: (named: T[]) => T,
  ): T | 'any' | undefined => {
    const named = parts.filter((part) => part !== 'any')
    const accepting = named.filter((part) => part !== undefined)
    if (accepting.length < named.length) return undefined
    return named.length === 0 ? 'any' : merge(accepting)
  }
  return {
    object: join(
      shapes.map(({ object }) => object),
      (named) => mergeFields(named, intersect),
    ),
    array: join(
      shapes.map(({ array }) => array),
      intersect,
    ),
  }
}

/** What is named by one of these: a field is kept when one of them names or allows it. */
const unite: Combine = (shapes) => {
  const join = <T extends object>(
    parts: (T | 'any' | undefined)[],
    merge: (named: T[]) => T,
  ): T | 'any' | undefined => {
    const accepting = parts.filter((part) => part !== undefined)
    const named = accepting.filter((part) => part !== 'any')
    if (named.length < accepting.length) return 'any'
    return named.length === 0 ? undefined : merge(named)
  }
  const objects = shapes.map(({ object }) => object)
  // Those that others name keep what is in them when an open option may have accepted it.
  const open = objects.filter((object) => typeof object === 'object' && object.isOpen)
  const isAny = open.length > 0 && objects.filter((object) => object !== undefined).length > 1
  return {
    object: isAny ? 'any' : join(objects, (named) => mergeFields(named, unite)),
    array: join(
      shapes.map(({ array }) => array),
      unite,
    ),
  }
}

const accepts = ({ type, const: value, enum: values }: AnySchemaObject, wanted: string): boolean => {
  if (type !== undefined) return [type].flat().includes(wanted)
  return value === undefined && values === undefined
}

const fieldsOf = (schema: AnySchemaObject): Shape['object'] => {
  if (!accepts(schema, 'object')) return undefined
  if (schema['properties'] === undefined) return 'any'
  const properties = Object.entries(schema['properties'] as Record<string, AnySchemaObject>)
  return {
    named: new Map(properties.map(([name, property]) => [name, shapeOf(property)])),
    isOpen: Boolean(schema['additionalProperties']) || schema['patternProperties'] !== undefined,
  }
}

const itemsOf = (schema: AnySchemaObject): Shape['array'] => {
  if (!accepts(schema, 'array')) return undefined
  const items = schema['items'] as AnySchemaObject | AnySchemaObject[] | boolean | undefined
  return typeof items === 'object' && !Array.isArray(items) ? shapeOf(items) : 'any'
}

const shapeOf = (schema: AnySchemaObject): Shape => {
  const { anyOf, oneOf, allOf = [] } = schema as Record<string, AnySchemaObject[] | undefined>
  const choices = [anyOf, oneOf].filter((options) => options !== undefined)
  return intersect([
    { object: fieldsOf(schema), array: itemsOf(schema) },
    ...choices.map((options) => unite(options.map(shapeOf))),
    ...allOf.map(shapeOf),
  ])
}

type Remove = (value: unknown) => void

const removeFromObject = ({ named, isOpen }: Fields): ((value: object) => void) | undefined => {
  const removers = new Map([...named].map(([name, shape]) => [name, removeFrom(shape)]))
  if (isOpen && removers.values().every((remove) => remove === undefined)) return undefined
  return (value) => {
    for (const [name, inner] of Object.entries(value)) {
      if (removers.has(name)) removers.get(name)?.(inner)
      else if (!isOpen) Reflect.deleteProperty(value, name)
    }
  }
}

/** Undefined when there is nothing to remove, so that long lists of text are not visited. */
const removeFrom = ({ object, array }: Shape): Remove | undefined => {
  const fromObject = object === undefined || object === 'any' ? undefined : removeFromObject(object)
  const fromItem = array === undefined || array === 'any' ? undefined : removeFrom(array)
  if (fromObject === undefined && fromItem === undefined) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) fromObject?.(value)
    else if (fromItem) for (const item of value) fromItem(item)
  }
}

/**
 * Removes the fields that a schema does not name from a value that is valid: from objects with named properties that allow
 * no additional ones, at every depth. Undefined when there are none. Schemas behind `$ref` keep everything.
 */
export const removerOf = (schema: AnySchemaObject): Remove | undefined => removeFrom(shapeOf(schema))
