import { cleanText } from '../../platform/text/text.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { Template, Values } from '../catalog/definition.ts'

const placeholder = /\{(\w+)\}/g
const onlyPlaceholder = /^\{(\w+)\}$/

/** The names of all placeholders in a template, including `{path*}` of paths. */
export const placeholdersOf = (template: Template | undefined): string[] => {
  if (typeof template === 'string') return [...template.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name ?? '')
  if (typeof template !== 'object' || template === null) return []
  return Object.values(template).flatMap((inner: Template) => placeholdersOf(inner))
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** Whether all placeholders of a text have a value. */
export const hasAll = (template: string, values: Values): boolean =>
  placeholdersOf(template).every((name) => values[name] !== undefined && values[name] !== '')

/** Replaces each placeholder with its value as text. */
export const fillText = (template: string, values: Values): string =>
  template.replaceAll(placeholder, (_, name: string) => textOf(values[name]))

/** Replaces placeholders with values. Undefined when the template is only a placeholder without a value. */
export const fill = (template: Template, values: Values): unknown => {
  if (typeof template === 'string') {
    const [, name] = onlyPlaceholder.exec(template) ?? []
    return name === undefined ? fillText(template, values) : values[name]
  }
  if (typeof template !== 'object' || template === null) return template
  if (Array.isArray(template)) {
    return template.map((inner: Template) => fill(inner, values)).filter((value) => value !== undefined)
  }
  const entries = Object.entries(template as Record<string, Template>).map(([key, inner]) => [key, fill(inner, values)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Rejects segments that URL parsing would drop or resolve (`.`, `..`, empty), and encodes all separators. */
const encodeSegment = (segment: string): string => {
  if (segment === '' || segment === '.' || segment === '..' || !segment.isWellFormed() || segment.includes('\0')) {
    throw badRequest(`${JSON.stringify(segment.slice(0, 100))} is not a valid path segment.`)
  }
  // RFC 3986 allows both in a segment, and some providers do not decode them in IDs.
  return encodeURIComponent(segment).replaceAll('%3A', ':').replaceAll('%40', '@')
}

/** `/a/b`, encoded. An empty last segment adds a trailing slash. BAD_REQUEST for an invalid segment. */
export const pathOfSegments = (segments: readonly string[]): string =>
  segments
    .map((segment, index) => {
      const isTrailingSlash = segment === '' && index > 0 && index === segments.length - 1
      return `/${isTrailingSlash ? '' : encodeSegment(segment)}`
    })
    .join('')

/** Fills in a path template such as `/files/{id}/raw/{path*}`, encoded. `{path*}` fills several segments. */
export const fillPath = (template: string, values: Values): string => {
  const segments = template.split('/').filter((segment) => segment !== '')
  return segments
    .map((segment) => {
      const [, name] = /^\{(\w+)\*\}$/.exec(segment) ?? []
      if (name === undefined) return pathOfSegments([fillText(segment, values)])
      return pathOfSegments(textOf(values[name]).replace(/^\//, '').split('/'))
    })
    .join('')
}

/** Pairs of a query or a form. A list becomes several pairs, a missing value none. */
export const fillPairs = (
  template: { readonly [name: string]: Template } | undefined,
  values: Values,
): [string, string][] =>
  Object.entries(template ?? {}).flatMap(([name, inner]) => {
    const value = fill(inner, values)
    return (Array.isArray(value) ? (value as unknown[]) : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, typeof one === 'object' ? JSON.stringify(one) : textOf(one)])
  })

/** The value at a path such as `a.b.0.c`, or undefined. */
export const at = (value: unknown, path: string): unknown => {
  let found = value
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

/** The string or number at a path, as text. Null for all other types. */
export const textAt = (value: unknown, path: string | undefined): string | null => {
  const found = path === undefined ? undefined : at(value, path)
  if (typeof found !== 'string' && typeof found !== 'number') return null
  return cleanText(String(found))
}

interface Branch {
  [key: string]: Branch
}

const branchesOf = (paths: readonly string[]): Branch => {
  const root: Branch = {}
  for (const path of paths) {
    let branch = root
    for (const key of path.split('.')) branch = branch[key] ??= {}
  }
  return root
}

const pickBranch = (value: unknown, branch: Branch): unknown => {
  const keys = Object.keys(branch)
  if (keys.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => pickBranch(item, branch))
  const record = value as Record<string, unknown>
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(record, key)).map((key) => [key, pickBranch(record[key], branch[key] ?? {})]),
  )
}

/** Keeps only these paths of a JSON value. A path applies to each item of a list. */
export const pick = (value: unknown, paths: readonly string[]): unknown => pickBranch(value, branchesOf(paths))
