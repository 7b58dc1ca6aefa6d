import { createHash } from 'node:crypto'
import { slugOf } from '../platform/text/slug.ts'
import type { ConnectionRow } from './connections/queries.ts'

const maxNameLength = 64

/**
 * The name of a tool of a server or agent that a person has connected: `mcp__<name>`, with a prefix `mcp__<label>__<name>`.
 * Model providers accept 64 characters of `A-Za-z0-9_-`. A hash of the whole name replaces what is cut off.
 */
export const serverToolName = (connector: 'mcp' | 'a2a', prefix: string, name: string): string => {
  const whole = `${connector}__${prefix}${name}`
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (clean.length <= maxNameLength) return clean
  return `${clean.slice(0, maxNameLength - 9)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
}

/** The prefixes of the tools of several connections: their labels, made unique. A single connection has none. */
export const prefixesOf = <Row extends ConnectionRow>(
  connections: readonly Row[],
  labelOf: (connection: Row) => string,
  fallback: string,
): { connection: Row; prefix: string }[] => {
  const used = new Set<string>()
  return connections.map((connection) => {
    if (connections.length === 1) return { connection, prefix: '' }
    const slug = slugOf(labelOf(connection), fallback).replaceAll('-', '_')
    let prefix = slug
    for (let n = 2; used.has(prefix); n++) prefix = `${slug}_${n}`
    used.add(prefix)
    return { connection, prefix: `${prefix}__` }
  })
}
