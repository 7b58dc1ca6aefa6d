import errors from '../../locales/de/api-errors.json' with { type: 'json' }
import texts from '../../locales/de/api-texts.json' with { type: 'json' }

interface Rule {
  pattern: RegExp
  translation: string
}

/** `The slug {0} is taken` as a pattern whose groups are the values; the full stop at its end may be missing. */
const patternOf = (template: string): RegExp => {
  const parts = template.replace(/\.$/, '').split(/\{\d\}/)
  return new RegExp(
    `^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('(.*?)')}\\.?$`,
    's',
  )
}

const known: ReadonlyMap<string, string> = new Map(Object.entries(texts))

let rules: readonly Rule[] | undefined

// Tool descriptions come from MCP servers of strangers. A text of 20,000 characters can take seconds to match.
const maxMatchedLength = 1_000

/** An English text of the API in German: a description, a reason or an error message. Undefined without a translation. */
export const translateApiText = (text: string): string | undefined => {
  const exact = known.get(text)
  if (exact !== undefined) return exact
  if (text.length > maxMatchedLength) return undefined
  rules ??= Object.entries(errors).map(([template, translation]) => ({ pattern: patternOf(template), translation }))
  for (const { pattern, translation } of rules) {
    const values = pattern.exec(text)
    if (!values) continue
    const valueOf = (index: string): string => values[Number(index) + 1] ?? ''
    return translation.replaceAll(/\{(\d)\}/g, (_match, index: string) => known.get(valueOf(index)) ?? valueOf(index))
  }
  return undefined
}
