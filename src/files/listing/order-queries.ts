// The orders of file lists. A list is a sequence of segments, because folders come first whatever its order is: an index
// has no order that is ascending for folders and descending for files.
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Sql } from '../../platform/database/database.ts'
import { bytesOf } from '../size-queries.ts'

export type SortField = 'name' | 'size' | 'mimeType' | 'updatedAt'
export type SortOrder = 'asc' | 'desc'

/** The place of a row in its list. */
export interface ListPosition {
  segment: number
  /** Of the field by which the list is sorted; null by name, or when the row has none. */
  value: string | number | null
  nameKey: string
  id: string
}

/** A column by which a segment is sorted, and a value of it. */
interface Term {
  column: Sql
  of: (at: ListPosition) => Sql
}

/** A part of a list with an order of its own, which an index stores. */
interface Segment {
  /** Which rows it has. */
  condition: Sql
  /** Equal in all rows of the segment, but leads the order of the index. */
  prefix: Sql
  terms: [Term, ...Term[]]
  isDescending: boolean
}

export type ListOrder = readonly [Segment, ...Segment[]]

const rank: Term = { column: sql`f.listing_rank`, of: ({ segment }) => sql`${segment}::smallint` }
const name: Term = { column: sql`f.name_key`, of: ({ nameKey }) => sql`${nameKey}` }
const id: Term = { column: sql`f.id`, of: (at) => sql`${at.id}::uuid` }
// A cursor can have any number. Of another type than the column, it is compared without overflow.
const size: Term = { column: bytesOf(sql`f`), of: ({ value }) => sql`${value}::bigint` }
const mimeType: Term = { column: sql`f.mime_type collate "C"`, of: ({ value }) => sql`${value}::text` }
const updatedAt: Term = { column: sql`f.updated_at`, of: ({ value }) => sql`${value}::timestamptz` }

const folders = sql`f.listing_rank = 0`
const others = sql`f.listing_rank = 1`
const typed = sql`f.listing_rank = 1 and f.mime_type is not null`
const untyped = sql`f.listing_rank = 1 and f.mime_type is null`

const byName = (condition: Sql, prefix: Sql, isDescending = false): Segment => ({
  condition,
  prefix,
  terms: [name, id],
  isDescending,
})

// The most frequent order: one range of one index.
const ascendingByName: ListOrder = [
  { condition: sql`true`, prefix: empty, terms: [rank, name, id], isDescending: false },
]

/** Folders have neither size nor type: they are sorted by name then, and the links, which have no type, at the end. */
export const orderOf = (field: SortField, order: SortOrder): ListOrder => {
  const isDescending = order === 'desc'
  switch (field) {
    case 'name':
      return isDescending ? [byName(folders, empty, true), byName(others, empty, true)] : ascendingByName
    case 'size':
      return [byName(folders, empty), { condition: others, prefix: empty, terms: [size, id], isDescending }]
    case 'mimeType':
      return [
        byName(folders, empty),
        { condition: typed, prefix: empty, terms: [mimeType, name, id], isDescending },
        byName(untyped, sql`f.mime_type collate "C",`),
      ]
    case 'updatedAt':
      return [folders, others].map((condition) => ({
        condition,
        prefix: empty,
        terms: [updatedAt, id],
        isDescending,
      })) as unknown as ListOrder
    default:
      return field satisfies never
  }
}

/** Whether a row of the segment comes after a position in it. */
const afterInSegment = ({ terms, isDescending }: Segment, at: ListPosition): Sql => {
  const row = join(terms.map(({ column }) => column))
  const values = join(terms.map((term) => term.of(at)))
  return isDescending ? sql`(${row}) < (${values})` : sql`(${row}) > (${values})`
}

/** The rows of a segment, after a position in it. */
export const inSegment = (segment: Segment, after: ListPosition | undefined): Sql =>
  after === undefined
    ? sql`and ${segment.condition}`
    : sql`and ${segment.condition} and ${afterInSegment(segment, after)}`

const directed = ({ terms, isDescending }: Segment): Sql =>
  join(terms.map(({ column }) => (isDescending ? sql`${column} desc` : column)))

export const orderInSegment = (segment: Segment): Sql => sql`${segment.prefix} ${directed(segment)}`

const segmentNumber = (order: ListOrder): Sql => {
  const branches = order.map(({ condition }, at) => sql`when ${condition} then ${at}::integer`)
  return sql`case ${join(branches, ' ')} end`
}

/** The order of all segments together, where no index has it. */
export const wholeOrder = (order: ListOrder): Sql => {
  const [only, ...more] = order
  if (more.length === 0) return directed(only)
  const terms = order.flatMap(({ condition, terms, isDescending }) =>
    terms.map(({ column }) => {
      const value = sql`case when ${condition} then ${column} end`
      return isDescending ? sql`${value} desc` : value
    }),
  )
  return join([segmentNumber(order), ...terms])
}

/** The rows after a position, in the order of all segments. */
export const afterInWhole = (order: ListOrder, after: ListPosition | undefined): Sql => {
  if (after === undefined) return empty
  const segment = order[after.segment] ?? order[0]
  const within = afterInSegment(segment, after)
  return order.length === 1
    ? sql`and ${within}`
    : sql`and (${segmentNumber(order)} > ${after.segment}::integer or (${segment.condition} and ${within}))`
}
