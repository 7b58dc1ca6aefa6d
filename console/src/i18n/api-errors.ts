import translations from '../../locales/de/api-errors.json'

interface Rule {
  pattern: RegExp
  translation: string
}

/** `The slug {0} is taken` as a pattern whose groups are the values; the full stop at its end may be missing. */
const patternOf = (template: string): RegExp => {
  const parts = template.replace(/\.$/, '').split(/\{\d\}/)
  return new RegExp(
    `^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('(.+?)')}\\.?$`,
    's',
  )
}

let rules: readonly Rule[] | undefined

/** An error message of the API, which is English, in German. Undefined for a message without a translation. */
export const translateApiError = (message: string): string | undefined => {
  rules ??= Object.entries(translations).map(([template, translation]) => ({
    pattern: patternOf(template),
    translation,
  }))
  for (const { pattern, translation } of rules) {
    const values = pattern.exec(message)
    if (values) return translation.replaceAll(/\{(\d)\}/g, (_match, index: string) => values[Number(index) + 1] ?? '')
  }
  return undefined
}
