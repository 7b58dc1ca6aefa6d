import { badRequest } from '../../platform/http/errors.ts'

/**
 * A condition over an event. It has no patterns, no functions and no loops, so testing it takes time in proportion to its
 * size and to the arrays that it compares.
 */
export type Filter =
  | { all: readonly Filter[] }
  | { any: readonly Filter[] }
  | { not: Filter }
  | ({ path: string } & Partial<Record<Operator, unknown>>)

export const operators = ['equals', 'in', 'exists', 'gt', 'gte', 'lt', 'lte', 'prefix'] as const
export type Operator = (typeof operators)[number]

type Scalar = string | number | boolean | null

/** What the paths of a filter begin with. */
export interface FilteredEvent {
  type: string
  subject: { type: string; id: string }
  actor: object
  data: object
}

const roots = ['data', 'type', 'subject', 'actor']
const maxBytes = 4_096
const maxConditions = 50
const maxDepth = 5
const maxPath = 255

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

const isOrderable = (value: unknown): value is string | number =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))

/** What each operator compares with: the check and the words for it. */
const operands: Record<Operator, [isValid: (value: unknown) => boolean, wanted: string]> = {
  equals: [isScalar, 'a string, a number, a boolean or null'],
  in: [
    (value) => Array.isArray(value) && value.length > 0 && value.every(isScalar),
    'a list of strings, numbers, booleans or null',
  ],
  exists: [(value) => typeof value === 'boolean', 'true or false'],
  gt: [isOrderable, 'a number or a string'],
  gte: [isOrderable, 'a number or a string'],
  lt: [isOrderable, 'a number or a string'],
  lte: [isOrderable, 'a number or a string'],
  prefix: [(value) => typeof value === 'string' && value !== '', 'a string that is not empty'],
}

const segmentsOf = (path: string): string[] => path.split('.')

const checkPath = (path: unknown, at: string): void => {
  if (typeof path !== 'string' || path.length > maxPath) {
    throw badRequest(`${at}.path must be a string of at most ${maxPath} characters, such as data.name`)
  }
  const [root = '', ...rest] = segmentsOf(path)
  if (!roots.includes(root)) throw badRequest(`${at}.path must begin with ${roots.join(', ')}`)
  if (rest.includes('')) throw badRequest(`${at}.path must not have an empty name between dots`)
}

const checkLeaf = (node: Record<string, unknown>, at: string): void => {
  checkPath(node['path'], at)
  const names = Object.keys(node).filter((name) => name !== 'path')
  const [name] = names
  if (name === undefined || names.length > 1 || !(operators as readonly string[]).includes(name)) {
    throw badRequest(`${at} must have path and exactly one of ${operators.join(', ')}`)
  }
  const [isValid, wanted] = operands[name as Operator]
  if (!isValid(node[name])) throw badRequest(`${at}.${name} must be ${wanted}`)
}

/** Checks a condition and those in it. Returns the number of conditions with a path. */
const check = (node: unknown, at: string, depth: number): number => {
  if (depth > maxDepth) throw badRequest(`${at} is nested more than ${maxDepth} levels deep`)
  if (!isObject(node)) throw badRequest(`${at} must be an object`)
  const kinds = ['all', 'any', 'not', 'path'].filter((name) => Object.hasOwn(node, name))
  const [kind] = kinds
  if (kinds.length !== 1) throw badRequest(`${at} must have exactly one of all, any, not and path`)
  if (kind === 'path') {
    checkLeaf(node, at)
    return 1
  }
  if (Object.keys(node).length > 1) throw badRequest(`${at} must have nothing beside ${kind}`)
  if (kind === 'not') return check(node['not'], `${at}.not`, depth + 1)
  const list = node[kind as string]
  if (!Array.isArray(list) || list.length === 0) throw badRequest(`${at}.${kind} must be a list of conditions`)
  return list.reduce<number>((count, one, index) => count + check(one, `${at}.${kind}[${index}]`, depth + 1), 0)
}

/** BAD_REQUEST for a filter that is invalid or too large, with the path of the mistake. */
export const parseFilter = (value: unknown): Filter => {
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    throw badRequest(`filter must be at most ${maxBytes} bytes of JSON`)
  }
  const conditions = check(value, 'filter', 1)
  if (conditions > maxConditions) throw badRequest(`filter must have at most ${maxConditions} conditions`)
  return value as Filter
}

/** The value at a path. Own properties of objects only, so that nothing of a prototype is read. */
const valueAt = (event: FilteredEvent, path: string): unknown => {
  let value: unknown = event
  for (const name of segmentsOf(path)) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Negative, 0 or positive; undefined for values of different types. */
const compare = (value: unknown, operand: string | number): number | undefined => {
  if (typeof value === 'number' && typeof operand === 'number') return value - operand
  if (typeof value === 'string' && typeof operand === 'string') return value < operand ? -1 : Number(value > operand)
  return undefined
}

const compares =
  (isRight: (order: number) => boolean) =>
  (value: unknown, operand: unknown): boolean => {
    const order = compare(value, operand as string | number)
    return order !== undefined && isRight(order)
  }

const tests: Record<Exclude<Operator, 'exists'>, (value: unknown, operand: unknown) => boolean> = {
  equals: (value, operand) => value === operand,
  in: (value, operand) => (operand as Scalar[]).includes(value as Scalar),
  gt: compares((order) => order > 0),
  gte: compares((order) => order >= 0),
  lt: compares((order) => order < 0),
  lte: compares((order) => order <= 0),
  prefix: (value, operand) => typeof value === 'string' && value.startsWith(operand as string),
}

const passesLeaf = (leaf: { path: string } & Partial<Record<Operator, unknown>>, event: FilteredEvent): boolean => {
  const value = valueAt(event, leaf.path)
  const operator = operators.find((name) => Object.hasOwn(leaf, name))
  if (operator === undefined) return false
  const operand = leaf[operator]
  if (operator === 'exists') return (value !== undefined) === operand
  const test = tests[operator]
  return Array.isArray(value) ? value.some((one) => test(one, operand)) : test(value, operand)
}

/** Whether an event passes a filter of `parseFilter`. A list passes when one of its elements does. */
export const passes = (filter: Filter, event: FilteredEvent): boolean => {
  if ('all' in filter) return filter.all.every((one) => passes(one, event))
  if ('any' in filter) return filter.any.some((one) => passes(one, event))
  if ('not' in filter) return !passes(filter.not, event)
  return passesLeaf(filter, event)
}
