import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { useState } from 'react'
import type { KeyboardEvent, PointerEvent } from 'react'
import { formatDollars, formatMicrocents, formatUtcDate, formatUtcDay } from '../../format.ts'
import styles from './chart.module.css'

export interface Day {
  date: string
  totalChargedMicrocents: number
  requestCount: number
  totalTokens: number
}

const scaleOf = (microcents: number): string => formatDollars(microcents / 1_000_000)

/** Rounds up to 1, 2, 2.5 or 5 times a power of ten. */
const roundUp = (value: number): number => {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

const textOf = (day: Day | undefined): string =>
  day ? `${formatUtcDate(day.date)}: ${formatMicrocents(day.totalChargedMicrocents)}` : ''

const width = 1_000
const height = 220

const Bars = ({ days, top, active }: { days: readonly Day[]; top: number; active: number | undefined }) => {
  const slot = width / days.length
  const bar = Math.max(1, Math.min(34, slot * 0.72))
  return days.map(({ date, totalChargedMicrocents: value }, index) => {
    // At least 2 pixels, so that the smallest cost is visible.
    const size = value === 0 ? 0 : Math.max(2, (value / top) * height)
    return (
      <rect
        key={date}
        className={styles['bar']}
        data-active={index === active || undefined}
        x={index * slot + (slot - bar) / 2}
        y={height - size}
        width={bar}
        height={size}
      />
    )
  })
}

/** A bar chart of daily cost. Arrow keys and the pointer select a day. */
export const DailyChart = ({ days }: { days: readonly Day[] }) => {
  const [active, setActive] = useState<number>()
  const top = roundUp(Math.max(...days.map(({ totalChargedMicrocents }) => totalChargedMicrocents)))
  const day = active === undefined ? undefined : days[active]
  const onPointer = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / wide) * days.length)
    setActive(Math.min(days.length - 1, Math.max(0, index)))
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setActive((now) =>
      Math.min(days.length - 1, Math.max(0, (now ?? days.length - 1) + (now === undefined ? 0 : step))),
    )
  }
  const [first, last] = [days[0], days.at(-1)]
  const middle = days[Math.floor(days.length / 2)]
  return (
    <figure className={styles['chart']}>
      <div className={styles['caption']}>
        {day ? (
          <>
            <strong>{formatMicrocents(day.totalChargedMicrocents)}</strong>
            <span>{formatUtcDate(day.date)}</span>
            <span>
              <Plural value={day.requestCount} one="# model call" other="# model calls" />,{' '}
              <Plural value={day.totalTokens} one="# token" other="# tokens" />
            </span>
          </>
        ) : (
          <span>
            <Trans>Daily spending (UTC)</Trans>
          </span>
        )}
      </div>
      <div className={styles['plot']}>
        <div className={styles['scale']} aria-hidden="true">
          <span>{scaleOf(top)}</span>
          <span>{scaleOf(top / 2)}</span>
          <span>0</span>
        </div>
        <div
          className={styles['area']}
          role="slider"
          aria-label={t`Daily spending`}
          aria-valuemin={0}
          aria-valuemax={days.length - 1}
          aria-valuenow={active ?? days.length - 1}
          aria-valuetext={textOf(day ?? last)}
          tabIndex={0}
          onPointerMove={onPointer}
          onPointerLeave={() => setActive(undefined)}
          onBlur={() => setActive(undefined)}
          onKeyDown={onKey}
        >
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
            {[0, 0.5, 1].map((part) => (
              <line key={part} className={styles['line']} x1={0} x2={width} y1={part * height} y2={part * height} />
            ))}
            <Bars days={days} top={top} active={active} />
          </svg>
        </div>
        <div className={styles['dates']} aria-hidden="true">
          {[first, middle, last].map((one, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- the three labels have no key other than their position
            <span key={index}>{one && formatUtcDay(one.date)}</span>
          ))}
        </div>
      </div>
    </figure>
  )
}
