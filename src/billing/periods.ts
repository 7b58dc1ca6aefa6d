export const periods = ['today', 'week', 'month', 'year', 'all', '7d', '30d', '90d'] as const
export type Period = (typeof periods)[number]

/** Days are calendar days in UTC. */
export interface Span {
  period: Period
  /** The first day. Null: the day of the first charge. */
  fromDay: string | null
  /** The last day: today. */
  toDay: string
  /** The rollups that are added up: months when the span consists of whole months. */
  grain: 'day' | 'month'
}

const dayMs = 86_400_000

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

const daysBefore = (at: Date, days: number): string => dayOf(new Date(at.getTime() - days * dayMs))

/** The span of a named period; an unknown name means `month`. Weeks begin on Monday. */
export const spanOf = (name: string | undefined, now: Date): Span => {
  const period = periods.find((one) => one === name) ?? 'month'
  const toDay = dayOf(now)
  if (period === 'today') return { period, fromDay: toDay, toDay, grain: 'day' }
  if (period === 'week') return { period, fromDay: daysBefore(now, (now.getUTCDay() + 6) % 7), toDay, grain: 'day' }
  if (period === 'month') return { period, fromDay: `${toDay.slice(0, 7)}-01`, toDay, grain: 'month' }
  if (period === 'year') return { period, fromDay: `${toDay.slice(0, 4)}-01-01`, toDay, grain: 'month' }
  if (period === 'all') return { period, fromDay: null, toDay, grain: 'month' }
  return { period, fromDay: daysBefore(now, Number.parseInt(period, 10) - 1), toDay, grain: 'day' }
}

/** Every day from `fromDay` to `toDay`, both included. */
export const daysBetween = (fromDay: string, toDay: string): string[] => {
  const days: string[] = []
  for (let at = Date.parse(fromDay); at <= Date.parse(toDay); at += dayMs) days.push(dayOf(new Date(at)))
  return days
}

/** The first day of every month from that of `fromDay` to that of `toDay`, both included. */
export const monthsBetween = (fromDay: string, toDay: string): string[] => {
  const months: string[] = []
  const at = new Date(`${fromDay.slice(0, 7)}-01`)
  for (; dayOf(at) <= toDay; at.setUTCMonth(at.getUTCMonth() + 1)) months.push(dayOf(at))
  return months
}

/** The same day of another month, or its last day when it is shorter. */
const dayIn = (year: number, month: number, day: number): string =>
  dayOf(new Date(Date.UTC(year, month, Math.min(day, new Date(Date.UTC(year, month + 1, 0)).getUTCDate()))))

/**
 * The period before, as far as this one has passed: on March 10, `month` is compared with the first ten days of February.
 * Null for `all`.
 */
export const previousOf = ({ period, fromDay, toDay }: Span): { fromDay: string; toDay: string } | null => {
  if (fromDay === null) return null
  const to = new Date(toDay)
  const [year, month, day] = [to.getUTCFullYear(), to.getUTCMonth(), to.getUTCDate()]
  if (period === 'month') return { fromDay: dayIn(year, month - 1, 1), toDay: dayIn(year, month - 1, day) }
  if (period === 'year') return { fromDay: `${year - 1}-01-01`, toDay: dayIn(year - 1, month, day) }
  const days = period === 'week' ? 7 : daysBetween(fromDay, toDay).length
  return { fromDay: daysBefore(new Date(fromDay), days), toDay: daysBefore(to, days) }
}
