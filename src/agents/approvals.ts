import { badRequest } from '../platform/http/errors.ts'
import type { KnownTools } from '../tool.ts'

/** Tools of MCP servers are known only to the person who has connected one. */
const mcpPrefix = 'mcp__'

/** Names that differ only in case, or in a dot for an underscore, are one tool: models know it by this one. */
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
  if (prefix.startsWith(mcpPrefix)) return prefix !== mcpPrefix || key.endsWith('*')
  if (key.endsWith('*') && mcpPrefix.startsWith(prefix)) return true
  return names.some((name) => matches(pattern, name))
}

const normalise = (pattern: string, known: KnownTools): string => {
  if (!isKnown(pattern, known)) {
    throw badRequest(
      `settings.approvals: there is no tool ${JSON.stringify(pattern)}. Name a tool, a prefix followed by *, or * for every tool that is not read-only`,
    )
  }
  const trimmed = pattern.trim().toLowerCase()
  if (trimmed.endsWith('*')) return trimmed
  return known.names.find((name) => matches(trimmed, name)) ?? keyOf(trimmed)
}

/**
 * What is stored of `settings.approvals`: each name as the tool is called, each pattern in lower case, once. BAD_REQUEST
 * for names that no tool has: a mistake here must not leave a tool unguarded. Undefined and null stay as they are.
 */
export const normaliseApprovals = (tools: unknown, known: KnownTools): string[] | null | undefined => {
  if (tools === undefined || tools === null) return tools
  if (!Array.isArray(tools) || tools.length > 100 || !tools.every((tool) => typeof tool === 'string')) {
    throw badRequest('settings.approvals must be a list of at most 100 names of tools, or null')
  }
  return [...new Set(tools.map((tool: string) => normalise(tool, known)))]
}

/** The names and patterns in an agent's settings; they may be from a time when anything was stored. */
export const approvalsOf = (settings: Record<string, unknown>): string[] => {
  const { approvals } = settings
  return Array.isArray(approvals) ? approvals.filter((name) => typeof name === 'string') : []
}

/** Whether two lists guard the same, in whatever order and spelling. */
export const sameApprovals = (one: string[], other: string[]): boolean => {
  const keys = (list: string[]): string => JSON.stringify([...new Set(list.map(keyOf))].toSorted())
  return keys(one) === keys(other)
}

/** Whether an agent's settings want a person's approval before a tool runs. */
export const wantsApproval = (
  settings: Record<string, unknown>,
  tool: { name: string; isReadOnly: boolean },
): boolean =>
  approvalsOf(settings).some((pattern) => (keyOf(pattern) === '*' ? !tool.isReadOnly : matches(pattern, tool.name)))
