import { badRequest } from '../../platform/http/errors.ts'

/** Where the value of a header is in the arguments of a call: the names of nested properties. */
export interface ToolHeader {
  name: string
  path: readonly string[]
}

type Json = Readonly<Record<string, unknown>>

const annotation = 'x-mcp-header'
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/
const permittedTypes = new Set(['string', 'integer', 'boolean', 'null'])
/** Keywords whose values are data, in which the annotation means nothing. */
const dataKeywords = new Set(['default', 'const', 'enum', 'examples'])
const maxHeaders = 32
/** Of all values of one call. Servers reject requests with longer headers. */
const maxTotalLength = 8_192

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const isPermitted = (type: unknown): boolean => {
  const types: unknown[] = [type].flat()
  return types.some((one) => one !== 'null') && types.every((one) => permittedTypes.has(String(one)))
}

class Misplaced extends Error {}

/** Collects annotations. `path` is undefined below anything but a chain of `properties`, where none is permitted. */
const collect = (schema: unknown, path: readonly string[] | undefined, found: ToolHeader[]): void => {
  if (!isObject(schema)) return
  for (const [key, value] of Object.entries(schema)) {
    if (key === annotation) {
      const isValid = typeof value === 'string' && fieldName.test(value) && isPermitted(schema['type'])
      if (!isValid || path === undefined || path.length === 0) throw new Misplaced()
      found.push({ name: value, path })
    } else if (key === 'properties' && isObject(value) && !Array.isArray(schema)) {
      for (const [name, property] of Object.entries(value)) collect(property, path && [...path, name], found)
    } else if (!dataKeywords.has(key)) {
      collect(value, undefined, found)
    }
  }
}

/**
 * The headers that repeat arguments of a tool, so that proxies can route by them (MCP 2026-07-28, x-mcp-header). Undefined
 * when an annotation breaks a rule: then clients must not offer the tool. The schema has at most 32 levels.
 */
export const toolHeadersOf = (inputSchema: object): ToolHeader[] | undefined => {
  const found: ToolHeader[] = []
  try {
    collect(inputSchema, [], found)
  } catch (error) {
    if (error instanceof Misplaced) return undefined
    throw error
  }
  const names = new Set(found.map(({ name }) => name.toLowerCase()))
  return names.size === found.length && found.length <= maxHeaders ? found : undefined
}

/** A value as a header. What is not plain ASCII, and what looks encoded, is encoded in base64. */
export const headerValueOf = (value: string): string => {
  const isPlain = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/.test(value)
  const looksEncoded = value.startsWith('=?base64?') && value.endsWith('?=')
  return isPlain && !looksEncoded ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

const textAt = (input: unknown, path: readonly string[]): string | undefined => {
  let value = input
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined
}

/** The headers of a call. Arguments without a value, and of other types than the schema permits, have none. */
export const callHeaders = (headers: readonly ToolHeader[], input: unknown): Record<string, string> => {
  const entries = headers.flatMap(({ name, path }): [string, string][] => {
    const text = textAt(input, path)
    return text === undefined ? [] : [[`mcp-param-${name.toLowerCase()}`, headerValueOf(text)]]
  })
  if (entries.reduce((sum, [, { length }]) => sum + length, 0) > maxTotalLength) {
    throw badRequest(`The arguments that the MCP server wants as headers have more than ${maxTotalLength} characters.`)
  }
  return Object.fromEntries(entries)
}
