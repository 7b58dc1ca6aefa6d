import { createHash } from 'node:crypto'
import type { ServerFeatures } from './session.ts'
import type { McpTool } from './tool-list.ts'

/** The tools of a server that the user accepted, or that wait for acceptance. */
export interface PinnedTools {
  /** SHA-256 over names, descriptions and schemas. */
  hash: string
  tools: McpTool[]
  /** Not part of the hash: the tools for them are ours. Absent for tools that were accepted before they were read. */
  features?: ServerFeatures
}

const withSortedKeys = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withSortedKeys)
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, withSortedKeys(inner)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Hashes everything that a model sees of the tools: any changed word can change what the model does. Ignores order. */
export const pinTools = (tools: McpTool[], features: ServerFeatures): PinnedTools => {
  const byName = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const hash = createHash('sha256')
    .update(JSON.stringify(withSortedKeys(byName)))
    .digest('hex')
  return { hash, tools: byName, features }
}
