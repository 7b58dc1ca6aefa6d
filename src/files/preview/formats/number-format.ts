/** What a number in a spreadsheet stands for, by its format. */
export type NumberKind = 'number' | 'percent' | 'date' | 'time' | 'dateTime'

// ECMA-376 part 1, 18.8.30: formats that have a number and no code in the file. 27 to 36 and 50 to 58 are the dates of
// East Asian calendars.
const builtIn = (id: number): NumberKind => {
  if (id === 9 || id === 10) return 'percent'
  if (id === 22) return 'dateTime'
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47) || (id >= 32 && id <= 35)) return 'time'
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date'
  return 'number'
}

/** The kind of a format by its id and, for one that the file defines, its code (`yyyy\-mm\-dd`). */
export const kindOfFormat = (id: number, code: string | undefined): NumberKind => {
  if (code === undefined) return builtIn(id)
  const [positive = ''] = code.split(';', 1)
  // Colours, conditions and locales stand in brackets, literal text in quotes or behind a backslash; [h] is hours.
  const plain = positive.replaceAll(/"[^"]*"?|\\.|[_*]./g, '').replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
  if (/general/i.test(plain)) return 'number'
  const hasTime = /[hs]/i.test(plain)
  const hasDate = /[yd]/i.test(plain) || (!hasTime && /m/i.test(plain))
  if (hasDate) return hasTime ? 'dateTime' : 'date'
  if (hasTime) return 'time'
  return plain.includes('%') ? 'percent' : 'number'
}

const dayMs = 86_400_000

// Excel counts days from 1900 and believes that 1900 was a leap year: day 60 is a 29 February that never was.
const instantOf = (serial: number, is1904: boolean): Date => {
  const days = is1904 ? serial + 1_462 : serial
  return new Date(Date.UTC(1899, 11, days < 60 ? 31 : 30) + Math.round(days * dayMs))
}

/** A number without what binary fractions add to it: 0.1 + 0.2 is 0.3. */
const plainNumber = (value: number): string => String(Number(value.toPrecision(15)))

const clock = (seconds: number): string =>
  [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':')

/** The stored value of a cell as a person reads it: dates in ISO 8601, percentages with their sign. */
export const showNumber = (stored: string, kind: NumberKind, is1904: boolean): string => {
  const value = Number(stored)
  if (stored.trim() === '' || !Number.isFinite(value)) return stored
  if (kind === 'number') return plainNumber(value)
  if (kind === 'percent') return `${plainNumber(value * 100)}%`
  // Year 9999 is the last that spreadsheets know; what lies outside is a number after all.
  if (value < 0 || value >= 2_958_466) return plainNumber(value)
  // A fraction of a day is rarely exact: 12:30:00 is stored as 12:29:59.9999. Up to a year of hours is a duration,
  // more is a date of which only the time was to be seen.
  if (kind === 'time' && value < 366) return clock(Math.round((value * dayMs) / 1000))
  const instant = instantOf(value, is1904)
  const iso = new Date(Math.round(instant.getTime() / 1000) * 1000).toISOString()
  const time = iso.slice(11, 19)
  return kind === 'date' && time === '00:00:00' ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${time}`
}
