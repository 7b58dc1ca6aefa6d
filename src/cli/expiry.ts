import { UsageError } from './command.ts'

const durations: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `2027-01-31`, an ISO time, or a time from now such as `90d` or `12h`. */
export const toExpiry = (given: string | undefined, words: string): string | null => {
  if (given === undefined) return null
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(given) ?? []
  const at = amount === undefined ? Date.parse(given) : Date.now() + Number(amount) * (durations[unit] ?? 0)
  if (Number.isNaN(at)) {
    throw new UsageError('--expires must be a date, an ISO time, or a time from now such as 90d or 12h', words)
  }
  return new Date(at).toISOString()
}
