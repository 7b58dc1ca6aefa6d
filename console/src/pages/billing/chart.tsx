import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import type { KeyboardEvent, PointerEvent } from 'react'
import { formatMicrocents, formatUtcDate, formatUtcDay, formatUtcMonth } from '../../format.ts'
import { classNames } from '../../ui/class-names.ts'
import { Table } from '../../ui/data/table.tsx'
import { ViewSwitch } from '../../ui/forms/segmented.tsx'
import styles from './chart.module.css'
import { axisLabel, barsOf, namesOf, scaleOf, totalOf } from './chart-data.ts'
import type { Bar, Chart } from './chart-data.ts'

const colorOf = (chart: Chart, index: number): string | undefined =>
  styles[chart.models[index]?.id === null ? 'other' : `series${index + 1}`]

const width = 1_000
const height = 220

interface Plot {
  chart: Chart
  bars: readonly Bar[]
  top: number
  /** Microcents; null when no line is drawn. */
  limit: number | null
  active: number | undefined
}

const Bars = ({ chart, bars, top, active }: Plot) => {
  const slot = width / bars.length
  const size = Math.max(1, Math.min(34, slot * 0.72))
  return bars.map(({ date, parts }, index) => {
    let y = height
    return (
      <g key={date} className={styles['bar']} data-active={index === active || undefined}>
        {parts.map((value, series) => {
          if (value === 0) return null
          // At least 2 pixels, so that the smallest cost is visible.
          const part = Math.max(2, (value / top) * height)
          y -= part
          const key = chart.models[series]?.id ?? 'other'
          const x = index * slot + (slot - size) / 2
          return <rect key={key} className={colorOf(chart, series)} x={x} y={y} width={size} height={part} />
        })}
      </g>
    )
  })
}

/** A step for each interval, so that it is read like the bars. */
const PreviousLine = ({ bars, top }: Plot) => {
  const slot = width / bars.length
  const points = bars.flatMap(({ previous }, index) => {
    if (previous === null) return []
    const y = height - (previous / top) * height
    return [`${index * slot},${y}`, `${(index + 1) * slot},${y}`]
  })
  return <polyline className={styles['previous']} points={points.join(' ')} />
}

const Drawing = (plot: Plot) => {
  const { top, limit } = plot
  const limitY = limit === null ? null : height - (limit / top) * height
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {[0, 0.5, 1].map((part) => (
        <line key={part} className={styles['line']} x1={0} x2={width} y1={part * height} y2={part * height} />
      ))}
      <Bars {...plot} />
      <PreviousLine {...plot} />
      {limitY !== null && <line className={styles['limit']} x1={0} x2={width} y1={limitY} y2={limitY} />}
    </svg>
  )
}

const dateOf = (chart: Chart, date: string): string =>
  chart.grain === 'month' ? formatUtcMonth(date) : formatUtcDate(date)

const textOf = (chart: Chart, bar: Bar | undefined): string => {
  if (!bar) return ''
  const names = namesOf(chart)
  const models = bar.parts.flatMap((value, index) =>
    value === 0 ? [] : [`${names[index]} ${formatMicrocents(value)}`],
  )
  return [`${dateOf(chart, bar.date)}: ${formatMicrocents(bar.total)}`, ...models].join('; ')
}

const Interactive = ({
  plot,
  label,
  onActive,
}: {
  plot: Plot
  label: string
  onActive: (index: number | undefined) => void
}) => {
  const { chart, bars, active } = plot
  const last = bars.length - 1
  const clamp = (index: number): number => Math.min(last, Math.max(0, index))
  const onPointer = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect()
    onActive(clamp(Math.floor(((event.clientX - left) / wide) * bars.length)))
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    onActive(active === undefined ? last : clamp(active + step))
  }
  return (
    <div
      className={styles['area']}
      role="slider"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={active ?? last}
      aria-valuetext={textOf(chart, bars[active ?? last])}
      tabIndex={0}
      onPointerMove={onPointer}
      onPointerLeave={() => onActive(undefined)}
      onBlur={() => onActive(undefined)}
      onKeyDown={onKey}
    >
      <Drawing {...plot} />
    </div>
  )
}

/** How much more or less than the period before. */
const Change = ({ total, previous }: { total: number; previous: NonNullable<Chart['previous']> }) => {
  const before = previous.totalChargedMicrocents
  const days = t`${formatUtcDay(previous.from)} – ${formatUtcDay(previous.to)}`
  const range = previous.from === previous.to ? formatUtcDay(previous.from) : days
  if (before === 0) return <Trans>Nothing was charged in the previous period ({range}).</Trans>
  const percent = Math.round(((total - before) / before) * 100)
  const amount = formatMicrocents(before)
  if (percent === 0)
    return (
      <Trans>
        The same as in the previous period: {amount} ({range}).
      </Trans>
    )
  return percent > 0 ? (
    <Trans>
      {percent} % more than in the previous period: {amount} ({range}).
    </Trans>
  ) : (
    <Trans>
      {-percent} % less than in the previous period: {amount} ({range}).
    </Trans>
  )
}

const Caption = ({ chart, bar }: { chart: Chart; bar: Bar | undefined }) => {
  const total = totalOf(chart)
  return (
    <div className={styles['caption']}>
      <strong>{formatMicrocents(bar ? bar.total : total)}</strong>
      <span>
        {bar ? dateOf(chart, bar.date) : chart.previous && <Change total={total} previous={chart.previous} />}
        {bar?.previous !== null && bar !== undefined && (
          <>
            {', '}
            <Trans>previous period {formatMicrocents(bar.previous)}</Trans>
          </>
        )}
      </span>
    </div>
  )
}

const Legend = ({ plot, limitCents, bar }: { plot: Plot; limitCents: number | null; bar: Bar | undefined }) => {
  const { chart, limit } = plot
  const names = namesOf(chart)
  return (
    <ul className={styles['legend']} aria-label={t`Legend`}>
      {chart.models.map((model, index) => {
        const amount = bar ? (bar.parts[index] ?? 0) : model.chargedMicrocents.reduce((one, other) => one + other, 0)
        return (
          <li key={model.id ?? 'other'}>
            <i className={classNames(styles['swatch'], colorOf(chart, index))} />
            {names[index]} <span>{formatMicrocents(amount)}</span>
          </li>
        )
      })}
      {chart.previous !== null && (
        <li>
          <i className={styles['dashes']} />
          <Trans>Previous period</Trans>
        </li>
      )}
      {limitCents !== null && (
        <li>
          <i className={classNames(styles['dashes'], styles['limitDashes'])} />
          <Trans>Monthly limit</Trans> <span>{formatMicrocents(limitCents * 10_000)}</span>
          {limit === null && <Trans>(above the chart)</Trans>}
        </li>
      )}
    </ul>
  )
}

const ChartTable = ({ chart, bars, label }: { chart: Chart; bars: readonly Bar[]; label: string }) => (
  <div className={styles['table']} role="region" aria-label={label} tabIndex={0}>
    <Table
      label={label}
      rows={bars.toReversed()}
      keyOf={({ date }) => date}
      columns={[
        {
          title: t`Date (UTC)`,
          tight: true,
          cell: ({ date }) => (chart.grain === 'month' ? formatUtcMonth(date) : formatUtcDay(date)),
        },
        ...namesOf(chart).map((title, index) => ({
          title,
          align: 'end' as const,
          cell: ({ parts }: Bar) => formatMicrocents(parts[index] ?? 0),
        })),
        { title: t`Total`, align: 'end', cell: ({ total }) => formatMicrocents(total) },
        ...(chart.previous === null
          ? []
          : [
              {
                title: t`Previous period`,
                align: 'end' as const,
                cell: ({ previous }: Bar) => (previous === null ? '–' : formatMicrocents(previous)),
              },
            ]),
      ]}
    />
  </div>
)

export const chartViews = ['bars', 'cumulative', 'table'] as const
export type ChartView = (typeof chartViews)[number]

const Switch = ({
  view,
  isDaily,
  onView,
}: {
  view: ChartView
  isDaily: boolean
  onView: (view: ChartView) => void
}) => {
  const labels: Record<ChartView, string> = {
    bars: isDaily ? t`Per day` : t`Per month`,
    cumulative: t`Cumulative`,
    table: t`Table`,
  }
  return (
    <ViewSwitch
      label={t`View`}
      views={chartViews.map((one) => [one, labels[one]] as const)}
      value={view}
      onChange={onView}
    />
  )
}

/**
 * Charges over time, stacked by model, with the period before as a line and the monthly limit where the bars are those of
 * one month. Arrow keys and the pointer select a bar; a table has the same figures.
 */
export const SpendingChart = ({
  chart,
  period,
  limitCents,
  view,
  onView,
}: {
  chart: Chart
  period: string
  /** The monthly limit of the org. Null without one. */
  limitCents: number | null
  view: ChartView
  onView: (view: ChartView) => void
}) => {
  const [active, setActive] = useState<number>()
  const isDaily = chart.grain === 'day'
  const bars = barsOf(chart, view === 'cumulative')
  const label = isDaily ? t`Daily spending` : t`Monthly spending`
  // The limit is that of a month, so it is comparable with the sum of one month only.
  const isOfMonth = isDaily ? period === 'month' && view === 'cumulative' : view === 'bars'
  const limit = isOfMonth && limitCents !== null ? limitCents * 10_000 : null
  const { top, drawsLimit } = scaleOf(bars, limit)
  const plot = { chart, bars, top, limit: drawsLimit ? limit : null, active }
  const bar = active === undefined ? undefined : bars[active]
  const ends = [bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)].slice(0, bars.length)
  return (
    <figure className={styles['chart']}>
      <div className={styles['head']}>
        <Caption chart={chart} bar={bar} />
        <Switch view={view} isDaily={isDaily} onView={onView} />
      </div>
      {view === 'table' ? (
        <ChartTable chart={chart} bars={bars} label={label} />
      ) : (
        <>
          <div className={styles['plot']}>
            <div className={styles['scale']} aria-hidden="true">
              <span>{axisLabel(top)}</span>
              <span>{axisLabel(top / 2)}</span>
              <span>0</span>
            </div>
            <Interactive plot={plot} label={label} onActive={setActive} />
            <div className={styles['dates']} aria-hidden="true">
              {ends.map((one, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- the labels have no key other than their position
                <span key={index}>{one && (isDaily ? formatUtcDay(one.date) : formatUtcMonth(one.date))}</span>
              ))}
            </div>
          </div>
          <Legend plot={plot} limitCents={isOfMonth ? limitCents : null} bar={bar} />
        </>
      )}
    </figure>
  )
}
