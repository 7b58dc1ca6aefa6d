import { t } from '@lingui/core/macro'
import { formatCents } from './format.ts'
import { formatLocale } from './i18n/language.ts'

/** The separators of numbers in the language of the console, as in `1.234,50`. */
const separators = (): { decimal: string; group: string } => {
  const parts = new Intl.NumberFormat(formatLocale(), { useGrouping: 'always' }).formatToParts(1_234.5)
  const valueOf = (type: string): string => parts.find((part) => part.type === type)?.value ?? ''
  return { decimal: valueOf('decimal'), group: valueOf('group') }
}

/**
 * `12.5` → 1250 cents; undefined when it is not an amount. In German, `12,50` and `12.50` are equal and `1.500` is
 * fifteen hundred. In English, `1,50` is rejected, because it could be meant as 1.50 or 150.
 */
export const centsOf = (text: string): number | undefined => {
  const { decimal, group } = separators()
  const clean = text.trim().replace(/^(?:US)?\$\s*|\s*\$$/, '')
  const at = Math.max(clean.lastIndexOf('.'), clean.lastIndexOf(decimal))
  const hasFraction = at !== -1 && clean.length - at <= 3
  const [whole, fraction] = hasFraction ? [clean.slice(0, at), clean.slice(at + 1)] : [clean, '00']
  const groups = whole.split(group)
  const isGrouped = groups.length === 1 || ((groups[0] ?? '').length <= 3 && groups.at(-1)?.length === 3)
  if (!isGrouped || ![...groups, fraction].every((digits) => /^\d+$/.test(digits))) return undefined
  return Number(groups.join('')) * 100 + Number(fraction.padEnd(2, '0'))
}

/** 1250 cents → `12.50`, as a field shows it. */
export const dollarsOf = (cents: number): string =>
  new Intl.NumberFormat(formatLocale(), { minimumFractionDigits: 2, useGrouping: false }).format(cents / 100)

/** Why an amount is invalid; undefined when it is from `leastCents` to `mostCents`. */
export const amountProblem = (text: string, leastCents: number, mostCents: number): string | undefined => {
  const cents = centsOf(text)
  if (cents === undefined) return t`Enter an amount in US dollars, such as 25 or 25.50.`
  if (cents < leastCents || cents > mostCents)
    return t`Enter an amount from ${formatCents(leastCents)} to ${formatCents(mostCents)}.`
  return undefined
}

/** The maximum for amounts without a limit of their own: $999,999.99. */
export const anyAmount = 99_999_999
