import { createHash } from 'node:crypto'

const canonical = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(canonical)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]): [string, unknown] => [key, canonical(inner)]))
}

/** SHA-256 in hex of a value as JSON with sorted keys, because PostgreSQL does not keep the order of keys. */
export const digestOfJson = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)) ?? 'null')
    .digest('hex')
