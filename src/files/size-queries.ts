import { sql } from '../platform/database/database.ts'
import type { Sql } from '../platform/database/database.ts'

// Sizes were 32-bit integers first. A larger one is in the column `large_bytes`, next to the largest integer in the first
// column: changing the type would rewrite tables of millions of rows, and the previous version would get another type.
const mostSmall = 2_147_483_647

/** The size of a row of a table that has both columns, as bigint for sums and orders. */
export const bytesOf = (table: Sql): Sql => sql`coalesce(${table}.large_bytes, ${table}.size_bytes)`

/** The same as a number for the application: a double is exact up to 9 PB. */
export const sizeOf = (table: Sql): Sql => sql`${bytesOf(table)}::float8`

/** The values of both columns. */
export const columnsOf = (sizeBytes: number): { small: number; large: number | null } =>
  sizeBytes > mostSmall ? { small: mostSmall, large: sizeBytes } : { small: sizeBytes, large: null }

/** The same two values of a size in SQL. */
export const smallOf = (size: Sql): Sql => sql`least(${size}, ${mostSmall}::bigint)`
export const largeOf = (size: Sql): Sql => sql`case when ${size} > ${mostSmall}::bigint then ${size} end`
