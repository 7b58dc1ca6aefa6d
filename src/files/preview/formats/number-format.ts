/** The meaning of a number in a spreadsheet, derived from its number format. */
export type NumberKind = 'number' | 'percent' | 'date' | 'time' | 'dateTime'

// ECMA-376 part 1, 18.8.30: built-in formats, which have an id but no format code in the file. 27–36 and 50–58 are
// dates of East Asian calendars.
const builtIn = (id: number): NumberKind => {
  if (id === 9 || id === 10) return 'percent'
  if (id === 22) return 'dateTime'
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47) || (id >= 32 && id <= 35)) return 'time'
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date'
  return 'number'
}

/** The kind of a number format. `code` is set for formats that the file defines, such as `yyyy\-mm\-dd`. */
export const kindOfFormat = (id: number, code: string | undefined): NumberKind => {
  if (code === undefined) return builtIn(id)
  const [positive = ''] = code.split(';', 1)
  // Brackets contain colours, conditions and locales; quotes and backslashes mark literal text. [h] means hours.
  const plain = positive.replaceAll(/"[^"]*"?|\\.|[_*]./g, '').replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
  if (/general/i.test(plain)) return 'number'
  const hasTime = /[hs]/i.test(plain)
  const hasDate = /[yd]/i.test(plain) || (!hasTime && /m/i.test(plain))
  if (hasDate) return hasTime ? 'dateTime' : 'date'
  if (hasTime) return 'time'
  return plain.includes('%') ? 'percent' : 'number'
}

const dayMs = 86_400_000

// Excel counts days from 1900 and treats 1900 as a leap year: day 60 is the nonexistent 29 February 1900.
const instantOf = (serial: number, is1904: boolean): Date => {
  const days = is1904 ? serial + 1_462 : serial
  return new Date(Date.UTC(1899, 11, days < 60 ? 31 : 30) + Math.round(days * dayMs))
}

/** Formats a number without binary rounding errors: 0.1 + 0.2 becomes 0.3. */
const plainNumber = (value: number): string => String(Number(value.toPrecision(15)))

const clock = (seconds: number): string =>
  [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':')

/** The displayed text of a stored cell value: dates in ISO 8601, percentages with a percent sign. */
export const showNumber = (stored: string, kind: NumberKind, is1904: boolean): string => {
  const value = Number(stored)
  if (stored.trim() === '' || !Number.isFinite(value)) return stored
  if (kind === 'number') return plainNumber(value)
  if (kind === 'percent') return `${plainNumber(value * 100)}%`
  // Spreadsheets support dates up to the year 9999. Other values are shown as numbers.
  if (value < 0 || value >= 2_958_466) return plainNumber(value)
  // A fraction of a day is rarely exact: 12:30:00 is stored as 12:29:59.9999. A value of up to a year is a
  // duration; a larger one is a date whose format shows only the time.
  if (kind === 'time' && value < 366) return clock(Math.round((value * dayMs) / 1000))
  const instant = instantOf(value, is1904)
  const iso = new Date(Math.round(instant.getTime() / 1000) * 1000).toISOString()
  const time = iso.slice(11, 19)
  return kind === 'date' && time === '00:00:00' ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${time}`
}
