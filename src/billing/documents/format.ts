import type { Language } from '../../platform/text/languages.ts'
import { cutName } from '../../platform/text/text.ts'
import { microcentsPerCent } from '../ledger/money.ts'

const locales: Record<Language, string> = { en: 'en-US', de: 'de-DE' }

/** Names, models and notes come from strangers: one line each, without characters that hide or reverse others. */
export const printable = (text: string, max = 200): string => cutName(text, max)

/** The lines of an address, at most six. */
export const printableLines = (text: string | null): string[] =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => printable(line))
    .filter((line) => line !== '')
    .slice(0, 6)

export interface Formats {
  cents(value: bigint | number): string
  /** An amount in microcents with all of its digits. */
  microcents(value: bigint | number): string
  count(value: number): string
  /** A day in UTC. */
  day(at: string): string
  /** A day and a time in UTC. */
  time(at: string): string
  /** The name of a month, given as `2026-11`. */
  month(month: string): string
}

const microcentsPerDollar = microcentsPerCent * 100n

/** The digits of an amount of microcents in dollars. As text, which `Intl` formats exactly. */
const dollarsOf = (microcents: bigint): Intl.StringNumericLiteral => {
  const size = microcents < 0n ? -microcents : microcents
  const fraction = String(size % microcentsPerDollar).padStart(6, '0')
  return `${microcents < 0n ? '-' : ''}${size / microcentsPerDollar}.${fraction}` as Intl.StringNumericLiteral
}

/** Formats amounts in US dollars and times in UTC as the language writes them. */
export const formatsOf = (language: Language): Formats => {
  const locale = locales[language]
  const money = (digits: number) =>
    new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', minimumFractionDigits: digits })
  const cents = money(2)
  const microcents = money(6)
  const counts = new Intl.NumberFormat(locale)
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  const months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return {
    cents: (value) => cents.format(dollarsOf(BigInt(value) * microcentsPerCent)),
    microcents: (value) => microcents.format(dollarsOf(BigInt(value))),
    count: (value) => counts.format(value),
    day: (at) => days.format(new Date(at)),
    time: (at) => `${times.format(new Date(at))} UTC`,
    month: (month) => months.format(new Date(`${month}-01T00:00:00Z`)),
  }
}
