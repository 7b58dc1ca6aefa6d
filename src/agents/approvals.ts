import { badRequest } from '../platform/http/errors.ts'
import type { KnownTools } from '../tool.ts'

/** The tools of MCP servers and A2A agents are known only to the person who connected them. */
const personalPrefixes = ['mcp__', 'a2a__']

/** The name that models use. Names that differ only in case, or in a dot for an underscore, are the same tool. */
const keyOf = (name: string): string => name.trim().toLowerCase().replaceAll('.', '_')

const namePattern = /^[a-z0-9_-]*\*?$/

const matches = (pattern: string, name: string): boolean => {
  const [wanted, key] = [keyOf(pattern), keyOf(name)]
  return wanted.endsWith('*') ? key.startsWith(wanted.slice(0, -1)) : key === wanted
}

const isKnown = (pattern: string, { names }: KnownTools): boolean => {
  const key = keyOf(pattern)
  const prefix = key.endsWith('*') ? key.slice(0, -1) : key
  if (prefix === '' || !namePattern.test(key)) return key === '*'
  for (const personal of personalPrefixes) {
    if (prefix.startsWith(personal)) return prefix !== personal || key.endsWith('*')
    if (key.endsWith('*') && personal.startsWith(prefix)) return true
  }
  return names.some((name) => matches(pattern, name))
}

const normalise = (pattern: string, known: KnownTools): string => {
  if (!isKnown(pattern, known)) {
    throw badRequest(
      `settings.approvals contains the unknown tool ${JSON.stringify(pattern)}; each item must be a tool, a prefix followed by *, or * for all tools that are not read-only`,
    )
  }
  const trimmed = pattern.trim().toLowerCase()
  if (trimmed.endsWith('*')) return trimmed
  return known.names.find((name) => matches(trimmed, name)) ?? keyOf(trimmed)
}

/**
 * Normalises `settings.approvals`: tools by their exact name, patterns in lower case, without duplicates. BAD_REQUEST for
 * unknown tools, because a typo would leave a tool without approval. Undefined and null are returned unchanged.
 */
export const normaliseApprovals = (tools: unknown, known: KnownTools): string[] | null | undefined => {
  if (tools === undefined || tools === null) return tools
  if (!Array.isArray(tools) || tools.length > 100 || !tools.every((tool) => typeof tool === 'string')) {
    throw badRequest('settings.approvals must be null or an array of at most 100 tool names')
  }
  return [...new Set(tools.map((tool: string) => normalise(tool, known)))]
}

/** The names and patterns in an agent's settings. Old rows were stored without validation and may contain anything. */
export const approvalsOf = (settings: Record<string, unknown>): string[] => {
  const { approvals } = settings
  return Array.isArray(approvals) ? approvals.filter((name) => typeof name === 'string') : []
}

/** Whether two lists are equal regardless of order and spelling. */
export const sameApprovals = (one: string[], other: string[]): boolean => {
  const keys = (list: string[]): string => JSON.stringify([...new Set(list.map(keyOf))].toSorted())
  return keys(one) === keys(other)
}

/** Whether an agent's settings require approval before a tool runs. */
export const wantsApproval = (
  settings: Record<string, unknown>,
  tool: { name: string; isReadOnly: boolean },
): boolean =>
  approvalsOf(settings).some((pattern) => (keyOf(pattern) === '*' ? !tool.isReadOnly : matches(pattern, tool.name)))
