import { badRequest } from '../../platform/http/errors.ts'
import { storedTypes } from '../uploads/mime-types.ts'
import type { Filter } from './filter-queries.ts'
import type { FileListQuery } from '../schemas.ts'
import type { TypeGroup } from './schemas.ts'

// The first group whose pattern matches has the type.
const patterns: [Exclude<TypeGroup, 'folder' | 'other'>, RegExp][] = [
  ['image', /^image\//],
  ['video', /^video\//],
  ['audio', /^audio\//],
  ['spreadsheet', /csv|tab-separated|spreadsheet|excel/],
  ['document', /pdf$|word|opendocument|rtf|presentation|powerpoint|visio|epub/],
  ['archive', /zip|tar|gzip|7z/],
  ['text', /^text\/|json|xml|yaml|toml|sql$|graphql|javascript|typescript|tex$|python|ruby|php/],
]

const groupOf = (type: string): TypeGroup => patterns.find(([, pattern]) => pattern.test(type))?.[0] ?? 'other'

// A database without SQLite in the pattern of `text`: its type ends like that of a script.
const binary = new Set(['application/vnd.sqlite3', 'application/x-sqlite3'])

/** The stored types of a group. They are a list, so that the index by type finds them. */
export const typesOf = (group: TypeGroup): string[] =>
  [...storedTypes.keys()].filter((type) => (binary.has(type) ? 'other' : groupOf(type)) === group)

/** The filters of a query; undefined without any. Throws BAD_REQUEST for a time after which none can be. */
export const filterOf = (query: FileListQuery): Filter | undefined => {
  const { favorite, type, tag, createdBy, createdSince, createdUntil, updatedSince, updatedUntil } = query
  const created = { since: createdSince, until: createdUntil }
  const updated = { since: updatedSince, until: updatedUntil }
  for (const [name, { since, until }] of [
    ['created', created],
    ['updated', updated],
  ] as const) {
    if (since !== undefined && until !== undefined && Date.parse(since) >= Date.parse(until)) {
      throw badRequest(`${name}Since must be before ${name}Until`)
    }
  }
  const isFavorite = favorite === true
  const isAny =
    isFavorite ||
    [type, tag, createdBy, ...Object.values(created), ...Object.values(updated)].some((value) => value !== undefined)
  if (!isAny) return undefined
  const isFolder = type === 'folder'
  return {
    isFolder,
    isFavorite,
    types: type === undefined || isFolder ? undefined : typesOf(type),
    tag,
    createdBy,
    created,
    updated,
  }
}
