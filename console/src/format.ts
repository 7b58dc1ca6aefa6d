import { t } from '@lingui/core/macro'
import { formatLocale } from './i18n/language.ts'

/**
 * A format in the language of the console, created when it is first used. Creating one takes time: the first
 * `Intl.NumberFormat` of a page 20 ms in Chromium, and the first `toLocaleString` 50 to 120 ms.
 */
const formatIn = <Format>(create: (locale: string) => Format): (() => Format) => {
  let made: { locale: string; format: Format } | undefined
  return () => {
    const locale = formatLocale()
    if (made?.locale !== locale) made = { locale, format: create(locale) }
    return made.format
  }
}

const usd = { style: 'currency', currency: 'USD' } as const
const numberIn = (options: Intl.NumberFormatOptions) => formatIn((locale) => new Intl.NumberFormat(locale, options))
const dateIn = (options: Intl.DateTimeFormatOptions) => formatIn((locale) => new Intl.DateTimeFormat(locale, options))

const number = numberIn({})
const integer = numberIn({ maximumFractionDigits: 0 })
const tenths = numberIn({ maximumFractionDigits: 1 })
const money = numberIn(usd)
const price = numberIn({ ...usd, trailingZeroDisplay: 'stripIfInteger' })
const dollars = numberIn({ ...usd, maximumFractionDigits: 4 })
const utcDate = dateIn({ dateStyle: 'full', timeZone: 'UTC' })
const utcDay = dateIn({ month: 'short', day: 'numeric', timeZone: 'UTC' })
const utcMonth = dateIn({ month: 'short', year: 'numeric', timeZone: 'UTC' })
const dateTime = dateIn({ dateStyle: 'medium', timeStyle: 'short' })
const thisYear = dateIn({ month: 'short', day: 'numeric' })
const anyYear = dateIn({ month: 'short', day: 'numeric', year: 'numeric' })
const relative = formatIn((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))

const bytesUnits = ['B', 'KB', 'MB', 'GB', 'TB']

/** `1536` → `1.5 KB`, in steps of 1024 like the API's limits. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < bytesUnits.length - 1) {
    value /= 1_024
    unit += 1
  }
  const format = value < 10 && unit > 0 ? tenths() : integer()
  return `${format.format(value)} ${bytesUnits[unit]}`
}

export const formatNumber = (value: number): string => number().format(value)

export const formatCents = (cents: number): string => money().format(cents / 100)

/** Usage can be a fraction of a cent, so amounts below $1 keep three digits: `$0.10`, `$0.378`, `$0.000829`. */
export const formatMicrocents = (microcents: number): string => {
  const amount = microcents / 1_000_000
  if (Math.abs(amount) >= 1 || amount === 0) return money().format(amount)
  const maximumFractionDigits = 2 - Math.floor(Math.log10(Math.abs(amount)))
  return new Intl.NumberFormat(formatLocale(), { ...usd, maximumFractionDigits }).format(amount)
}

/** `$20`, and `$20.50`. */
export const formatPrice = (cents: number): string => price().format(cents / 100)

/** `$0.0125`: at most four digits. */
export const formatDollars = (amount: number): string => dollars().format(amount)

/** `Monday, March 4, 2030` of a UTC date. */
export const formatUtcDate = (date: string): string => utcDate().format(new Date(date))

/** `Mar 4` of a UTC date. */
export const formatUtcDay = (date: string): string => utcDay().format(new Date(date))

/** `Mar 2030` of a UTC date. */
export const formatUtcMonth = (date: string): string => utcMonth().format(new Date(date))

export const formatDateTime = (iso: string): string => dateTime().format(new Date(iso))

/** `just now`, `3 min. ago`, `yesterday`, `Mar 4` (after 6 days). */
export const formatAgo = (iso: string, now = Date.now()): string => {
  const date = new Date(iso)
  const seconds = (date.getTime() - now) / 1_000
  const age = Math.abs(seconds)
  if (age < 45) return t`just now`
  if (age < 3_600) return relative().format(Math.round(seconds / 60), 'minute')
  if (age < 86_400) return relative().format(Math.round(seconds / 3_600), 'hour')
  if (age < 6 * 86_400) return relative().format(Math.round(seconds / 86_400), 'day')
  return (date.getFullYear() === new Date(now).getFullYear() ? thisYear() : anyYear()).format(date)
}

/** `1.5 s`, and `12 s` from ten seconds on. */
export const formatSeconds = (seconds: number): string => `${(seconds < 10 ? tenths() : integer()).format(seconds)} s`
