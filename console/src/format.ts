import { t } from '@lingui/core/macro'
import { formatLocale } from './i18n/language.ts'

const formatsOf = (locale: string) => ({
  locale,
  money: new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }),
  price: new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    trailingZeroDisplay: 'stripIfInteger',
  }),
  dollars: new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }),
  utcDate: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' }),
  utcDay: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' }),
  utcMonth: new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
  dateTime: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
  thisYear: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' }),
  anyYear: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', year: 'numeric' }),
  relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
})

let formats: ReturnType<typeof formatsOf> | undefined

/** Formats in the language of the console, which is slow to build and rarely changes. */
const current = (): ReturnType<typeof formatsOf> => {
  const locale = formatLocale()
  if (formats?.locale !== locale) formats = formatsOf(locale)
  return formats
}

const bytesUnits = ['B', 'KB', 'MB', 'GB', 'TB']

/** `1536` → `1.5 KB`, in steps of 1024 like the API's limits. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < bytesUnits.length - 1) {
    value /= 1_024
    unit += 1
  }
  return `${value.toLocaleString(formatLocale(), { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${bytesUnits[unit]}`
}

export const formatNumber = (value: number): string => value.toLocaleString(formatLocale())

export const formatCents = (cents: number): string => current().money.format(cents / 100)

/** Usage can be a fraction of a cent, so amounts below $1 keep three digits: `$0.10`, `$0.378`, `$0.000829`. */
export const formatMicrocents = (microcents: number): string => {
  const dollars = microcents / 1_000_000
  if (Math.abs(dollars) >= 1 || dollars === 0) return current().money.format(dollars)
  const maximumFractionDigits = 2 - Math.floor(Math.log10(Math.abs(dollars)))
  return dollars.toLocaleString(formatLocale(), { style: 'currency', currency: 'USD', maximumFractionDigits })
}

/** `$20`, and `$20.50`. */
export const formatPrice = (cents: number): string => current().price.format(cents / 100)

/** `$0.0125`: at most four digits. */
export const formatDollars = (dollars: number): string => current().dollars.format(dollars)

/** `Monday, March 4, 2030` of a UTC date. */
export const formatUtcDate = (date: string): string => current().utcDate.format(new Date(date))

/** `Mar 4` of a UTC date. */
export const formatUtcDay = (date: string): string => current().utcDay.format(new Date(date))

/** `Mar 2030` of a UTC date. */
export const formatUtcMonth = (date: string): string => current().utcMonth.format(new Date(date))

export const formatDateTime = (iso: string): string => current().dateTime.format(new Date(iso))

/** `just now`, `3 min. ago`, `yesterday`, `Mar 4` (after 6 days). */
export const formatAgo = (iso: string, now = Date.now()): string => {
  const date = new Date(iso)
  const seconds = (date.getTime() - now) / 1_000
  const age = Math.abs(seconds)
  const { relative, thisYear, anyYear } = current()
  if (age < 45) return t`just now`
  if (age < 3_600) return relative.format(Math.round(seconds / 60), 'minute')
  if (age < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour')
  if (age < 6 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
  return (date.getFullYear() === new Date(now).getFullYear() ? thisYear : anyYear).format(date)
}
