// The types that an endpoint receives: `agent.created`, `agent.*` or `*`.

const matches = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

export const isSelected = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matches(pattern, type))

/** `agent.*` for `agent.created`. */
export const groupOf = (type: string): string => `${type.slice(0, type.indexOf('.'))}.*`

const unique = (patterns: readonly string[]): string[] => [...new Set(patterns)]

/**
 * Selects a type, or removes it. When a pattern such as `agent.*` includes the type, the other types that it includes
 * replace it.
 */
export const toggleType = (patterns: readonly string[], type: string, all: readonly string[]): string[] => {
  const including = patterns.filter((pattern) => matches(pattern, type))
  if (including.length === 0) return unique([...patterns, type])
  const others = all.filter((one) => one !== type && isSelected(including, one))
  return unique([...patterns.filter((pattern) => !including.includes(pattern)), ...others])
}

/** Selects `agent.*` in place of single types of it, or removes it. */
export const toggleGroup = (patterns: readonly string[], group: string): string[] =>
  patterns.includes(group)
    ? patterns.filter((pattern) => pattern !== group)
    : [...patterns.filter((pattern) => !matches(group, pattern)), group]

/** Patterns that the catalog does not list, such as `webhook.event.*`, and types that the person may not read. */
export const unlisted = (patterns: readonly string[], all: readonly string[]): string[] =>
  patterns.filter((pattern) => pattern !== '*' && !all.some((type) => type === pattern || groupOf(type) === pattern))
