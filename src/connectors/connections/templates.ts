import { cleanText } from '../../platform/text/text.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { Template, Values } from '../catalog/definition.ts'

const placeholder = /\{(\w+)\}/g
const onlyPlaceholder = /^\{(\w+)\}$/

/** The names of all placeholders in a template, `{path*}` of paths included. */
export const placeholdersOf = (template: Template | undefined): string[] => {
  if (typeof template === 'string') return [...template.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name ?? '')
  if (typeof template !== 'object' || template === null) return []
  return Object.values(template).flatMap((inner: Template) => placeholdersOf(inner))
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** A text with the values in their places. */
export const fillText = (template: string, values: Values): string =>
  template.replaceAll(placeholder, (_, name: string) => textOf(values[name]))

/** The template with the values in their places. Undefined when it is nothing but a value that is not there. */
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

/** A segment stays one: `.`, `..` and nothing would take others away, and what could end it is encoded. */
const encodeSegment = (segment: string): string => {
  if (segment === '' || segment === '.' || segment === '..' || !segment.isWellFormed() || segment.includes('\0')) {
    throw badRequest(`${JSON.stringify(segment.slice(0, 100))} cannot be a part of a path.`)
  }
  // Those two are allowed in a segment, and some providers' ids are full of them.
  return encodeURIComponent(segment).replaceAll('%3A', ':').replaceAll('%40', '@')
}

/** `/a/b`, encoded; an empty last one is a slash at the end. Throws BAD_REQUEST for a segment that is none. */
export const pathOfSegments = (segments: readonly string[]): string =>
  segments
    .map((segment, place) => {
      const isEnd = segment === '' && place > 0 && place === segments.length - 1
      return `/${isEnd ? '' : encodeSegment(segment)}`
    })
    .join('')

/** The path of a template such as `/files/{id}/raw/{path*}`, encoded; `*` takes several segments. */
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

/** Pairs of a query or a form: lists as several, what is not there left out. */
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

/** What is at `a.b.0.c`, or undefined. */
export const at = (value: unknown, path: string): unknown => {
  let found = value
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

/** The same as text, when it is one or a number. */
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

/** Only these parts of a JSON value, in its own shape; lists are gone through item by item. */
export const pick = (value: unknown, paths: readonly string[]): unknown => pickBranch(value, branchesOf(paths))
