import type { CompiledMessage } from '@lingui/message-utils/compileMessage'

type Token = Exclude<CompiledMessage, string>[number]

/** The end of a placeholder: the index of the brace that closes the one at `open`. */
const closing = (message: string, open: number): number => {
  let depth = 0
  for (let at = open; at < message.length; at += 1) {
    if (message[at] === '{') depth += 1
    if (message[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  throw new Error(`a brace is not closed: ${message}`)
}

/** The cases of a plural: `one {…} other {…}`. */
const casesOf = (text: string): Record<string, CompiledMessage> => {
  const cases: Record<string, CompiledMessage> = {}
  for (let at = text.indexOf('{'), from = 0; at !== -1; at = text.indexOf('{', from)) {
    const end = closing(text, at)
    cases[text.slice(from, at).trim().replace(/^=/, '')] = tokensOf(text.slice(at + 1, end), true)
    from = end + 1
  }
  return cases
}

const placeholderOf = (text: string): Token => {
  const [, name = text, kind, cases] = /^\s*(\w+)\s*(?:,\s*(plural)\s*,(.*))?$/s.exec(text) ?? []
  return kind === undefined
    ? [name]
    : ([name, kind, { offset: undefined, ...casesOf(cases ?? '') }] as unknown as Token)
}

const tokensOf = (message: string, isPlural: boolean): Token[] => {
  const tokens: Token[] = []
  const add = (text: string): void => {
    // In a plural, `#` is the number.
    for (const part of isPlural ? text.split(/(#)/) : [text]) if (part !== '') tokens.push(part)
  }
  let from = 0
  for (let at = message.indexOf('{'); at !== -1; at = message.indexOf('{', from)) {
    add(message.slice(from, at))
    const end = closing(message, at)
    tokens.push(placeholderOf(message.slice(at + 1, end)))
    from = end + 1
  }
  add(message.slice(from))
  return tokens
}

/**
 * Compiles an English message of the source for Lingui: text, placeholders and plurals, as the console has them. Lingui's
 * own compiler also knows dates, selections and quoted braces, and is 9 KB of script that every page would load; a test
 * compares both for every message.
 */
export const compileMessage = (message: string): CompiledMessage => tokensOf(message, false)
