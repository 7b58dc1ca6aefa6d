import { t } from '@lingui/core/macro'
import type { Spending } from '@atrium/client'
import { formatDollars } from '../../format.ts'

export type Chart = Spending['chart']

export interface Bar {
  date: string
  total: number
  /** One for each series, in their order. */
  parts: number[]
  /** Null when the period before is shorter, or there is none. */
  previous: number | null
}

/** The names of the series, with the ID of a model whose name is not unique. */
export const namesOf = ({ models }: Pick<Chart, 'models'>): string[] =>
  models.map(({ id, name }) => {
    if (id === null) return t`Other models`
    return models.some((other) => other.id !== id && other.name === name) ? `${name} (${id})` : name
  })

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0)

const accumulate = (values: readonly number[]): number[] => {
  let total = 0
  return values.map((value) => (total += value))
}

/** The bars of a chart, in microcents; each is the sum up to its date when `isCumulative`. */
export const barsOf = ({ dates, models, previous }: Chart, isCumulative: boolean): Bar[] => {
  const values = (one: readonly number[]): readonly number[] => (isCumulative ? accumulate(one) : one)
  const series = models.map(({ chargedMicrocents }) => values(chargedMicrocents))
  const before = previous === null ? [] : values(previous.chargedMicrocents)
  return dates.map((date, index) => {
    const parts = series.map((one) => one[index] ?? 0)
    return { date, parts, total: sum(parts), previous: before[index] ?? null }
  })
}

export const totalOf = ({ models }: Chart): number => sum(models.map((one) => sum(one.chargedMicrocents)))

/** Rounds up to 1, 2, 2.5 or 5 times a power of ten. */
const roundUp = (value: number): number => {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

/** A limit far above all bars would make them invisible, so it is not drawn. */
const furthestLimit = 4

/** The top of the scale, and whether a line at `limit` is within it. */
export const scaleOf = (bars: readonly Bar[], limit: number | null): { top: number; drawsLimit: boolean } => {
  const most = Math.max(0, ...bars.map(({ total, previous }) => Math.max(total, previous ?? 0)))
  const drawsLimit = limit !== null && most > 0 && limit <= most * furthestLimit
  // Above the line, so that its label fits.
  return { top: roundUp(drawsLimit ? Math.max(most, limit * 1.02) : most), drawsLimit }
}

export const axisLabel = (microcents: number): string => formatDollars(microcents / 1_000_000)
