import { isStorable } from '../platform/text/moments.ts'
import { UsageError } from './command.ts'

const durations: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `2027-01-31`, an ISO 8601 time, or a duration from now such as `90d` or `12h`. */
export const toExpiry = (text: string | undefined, words: string): string | null => {
  if (text === undefined) return null
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const at = amount === undefined ? Date.parse(text) : Date.now() + Number(amount) * (durations[unit] ?? 0)
  if (!isStorable(at)) {
    throw new UsageError('--expires must be a date, an ISO 8601 time, or a duration such as 90d or 12h', words)
  }
  return new Date(at).toISOString()
}
