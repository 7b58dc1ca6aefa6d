import { formatWordInText } from '../../words.ts'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Breakdown, Spending } from '@atrium/client'
import { ChartColumn, Download } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { formatMicrocents, formatNumber } from '../../format.ts'
import { ProgressBar } from '../../ui/data/progress-bar.tsx'
import { Section } from '../../ui/page.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { ViewSwitch } from '../../ui/forms/segmented.tsx'
import styles from './billing.module.css'
import { chartViews, SpendingChart } from './chart.tsx'
import type { Chart } from './chart-data.ts'
import { download, toCsv } from './csv.ts'

const periods: [string, Text][] = [
  ['today', msg`Today`],
  ['7d', msg`Last 7 days`],
  ['30d', msg`Last 30 days`],
  ['90d', msg`Last 90 days`],
  ['week', msg`This week`],
  ['month', msg`This month`],
  ['year', msg`This year`],
  ['all', msg`All time`],
]

const axes = {
  model: { route: 'GET /billing/spending/by-model', word: msg`Model`, none: msg`Unknown model` },
  agent: { route: 'GET /billing/spending/by-agent', word: msg`Agent`, none: msg`No agent` },
  project: { route: 'GET /billing/spending/by-project', word: msg`Project`, none: msg`No project` },
} as const
type Axis = keyof typeof axes

type Totals = Breakdown['items'][number] | Spending['daily'][number]

const totalsHead = [
  'requests',
  'input_tokens',
  'output_tokens',
  'provider_cost_microcents',
  'fee_microcents',
  'charged_microcents',
]
const totalsOf = (one: Totals): number[] => [
  one.requestCount,
  one.inputTokens,
  one.outputTokens,
  one.providerCostMicrocents,
  one.platformFeeMicrocents,
  one.totalChargedMicrocents,
]

const exportDays = ({ period, daily }: Spending): void =>
  download(
    `spending-by-day-${period}.csv`,
    toCsv([['date', ...totalsHead], ...daily.map((day) => [day.date, ...totalsOf(day)])]),
  )

/** A row for each day or month and model. */
const exportChart = (period: string, { dates, models }: Chart): void =>
  download(
    `spending-by-date-and-model-${period}.csv`,
    toCsv([
      ['date', 'model', 'name', 'charged_microcents'],
      ...dates.flatMap((date, index) =>
        models.map(({ id, name, chargedMicrocents }) => [date, id, name, chargedMicrocents[index] ?? 0]),
      ),
    ]),
  )

const exportAxis = (axis: Axis, { period, items }: Breakdown): void =>
  download(
    `spending-by-${axis}-${period}.csv`,
    toCsv([
      ['id', 'name', 'share', ...totalsHead],
      ...items.map((one) => [one.id, one.name, one.share, ...totalsOf(one)]),
    ]),
  )

const BreakdownTable = ({ axis, items }: { axis: Axis; items: Breakdown['items'] }) => (
  <Table
    label={t`Spending by ${formatWordInText(axis)}`}
    rows={items}
    keyOf={({ id }) => id ?? 'none'}
    columns={[
      { title: axes[axis].word, cell: ({ id, name }) => (id === null ? textOf(axes[axis].none) : name) },
      {
        title: t`Share`,
        optional: true,
        cell: ({ share, name }) => (
          <span className={styles['share']}>
            <ProgressBar value={share} label={t`Share of ${name}`} />
            {Math.round(share * 100)} %
          </span>
        ),
      },
      { title: t`Model calls`, align: 'end', optional: true, cell: ({ requestCount }) => formatNumber(requestCount) },
      { title: t`Tokens`, align: 'end', optional: true, cell: ({ totalTokens }) => formatNumber(totalTokens) },
      { title: t`Charged`, align: 'end', cell: (one) => formatMicrocents(one.totalChargedMicrocents) },
    ]}
  />
)

const By = ({ axis, period, onAxis }: { axis: Axis; period: string; onAxis: (axis: Axis) => void }) => {
  const breakdown = useQuery(read(axes[axis].route, { query: { period } }))
  return (
    <Section
      plain
      title={t`Breakdown`}
      actions={
        <div className={styles['actions']}>
          <ViewSwitch
            label={t`Break down by`}
            views={(Object.keys(axes) as Axis[]).map((one) => [one, textOf(axes[one].word)])}
            value={axis}
            onChange={onAxis}
          />
          <Button
            small
            icon={<Download />}
            disabledReason={!breakdown.data?.items.length && t`Nothing to export.`}
            onClick={() => breakdown.data && exportAxis(axis, breakdown.data)}
          >
            <Trans>Export CSV</Trans>
          </Button>
        </div>
      }
    >
      <QueryBoundary query={breakdown} compact>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState compact title={t`No spending in this period`} />
          ) : (
            <BreakdownTable axis={axis} items={items} />
          )
        }
      </QueryBoundary>
    </Section>
  )
}

const Summary = ({ summary }: { summary: Spending['summary'] }) => {
  const figures: [string, string, string][] = [
    [
      t`Charged`,
      formatMicrocents(summary.totalChargedMicrocents),
      t`${formatMicrocents(summary.platformFeeMicrocents)} platform fee`,
    ],
    [
      t`Model calls`,
      formatNumber(summary.requestCount),
      t`${formatNumber(summary.byokRequestCount)} with your own keys`,
    ],
    [t`Input tokens`, formatNumber(summary.inputTokens), t`${formatNumber(summary.cacheReadTokens)} cached`],
    [t`Output tokens`, formatNumber(summary.outputTokens), ''],
  ]
  return (
    <div className={styles['figures']}>
      {figures.map(([label, value, note]) => (
        <div key={label} className={styles['figure']}>
          <span>{label}</span>
          <strong>{value}</strong>
          <small>{note}</small>
        </div>
      ))}
    </div>
  )
}

export const SpendingPage = () => {
  const [params, setParams] = useSearchParams()
  const period = params.get('period') ?? '30d'
  const by = params.get('by') ?? ''
  const axis: Axis = by in axes ? (by as Axis) : 'model'
  const view = chartViews.find((one) => one === params.get('view')) ?? 'bars'
  const spending = useQuery(read('GET /billing/spending', { query: { period } }))
  const billing = useQuery(read('GET /billing'))
  const set = (patch: Record<string, string>): void =>
    setParams({ period, by: axis, view, ...patch }, { replace: true })
  return (
    <>
      <div className={styles['bar']}>
        <SelectField
          label={t`Period`}
          hideLabel
          value={period}
          onChange={({ target }) => set({ period: target.value })}
        >
          {periods.map(([value, label]) => (
            <option key={value} value={value}>
              {textOf(label)}
            </option>
          ))}
        </SelectField>
        <span className={styles['gap']} />
        <Menu
          trigger={
            <Button icon={<Download />} disabledReason={!spending.data && t`The data is still loading.`}>
              <Trans>Export CSV</Trans>
            </Button>
          }
          entries={[
            { label: t`By day`, onSelect: () => spending.data && exportDays(spending.data) },
            {
              label: spending.data?.chart.grain === 'month' ? t`By month and model` : t`By day and model`,
              disabledReason: !spending.data?.chart.models.length && t`Nothing to export.`,
              onSelect: () => spending.data && exportChart(period, spending.data.chart),
            },
          ]}
        />
      </div>
      <QueryBoundary query={spending}>
        {(data) =>
          data.summary.requestCount === 0 ? (
            <EmptyState
              icon={<ChartColumn />}
              title={t`No spending in this period`}
              action={
                <ButtonLink to="/chat/new">
                  <Trans>Start conversation</Trans>
                </ButtonLink>
              }
            >
              <Trans>The cost of model calls appears here within seconds.</Trans>
            </EmptyState>
          ) : (
            <>
              <Summary summary={data.summary} />
              <SpendingChart
                // A selected bar is one of this period.
                key={period}
                chart={data.chart}
                period={data.period}
                limitCents={billing.data?.limits.org.monthlyCapCents ?? null}
                view={view}
                onView={(next) => set({ view: next })}
              />
              <By axis={axis} period={period} onAxis={(next) => set({ by: next })} />
            </>
          )
        }
      </QueryBoundary>
    </>
  )
}
