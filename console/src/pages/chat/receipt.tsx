import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { apiText } from '../../i18n/language.ts'
import { useQuery } from '@tanstack/react-query'
import type { Turn } from '@atrium/client'
import { read } from '../../api.ts'
import { formatDateTime, formatMicrocents, formatNumber, formatSeconds } from '../../format.ts'
import { formatWord } from '../../words.ts'
import { Badge } from '../../ui/data/badge.tsx'
import type { Tone } from '../../ui/data/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import type { Description } from '../../ui/data/description-list.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/data/table.tsx'
import styles from './receipt.module.css'

const tones: Record<string, Tone> = {
  completed: 'good',
  done: 'good',
  failed: 'bad',
  lost: 'bad',
  unknown: 'warn',
  incomplete: 'warn',
  requires_action: 'warn',
  cancelled: 'neutral',
  running: 'info',
  started: 'info',
}

const State = ({ of }: { of: string }) => <Badge tone={tones[of] ?? 'neutral'}>{formatWord(of)}</Badge>

/** `0.4 s`, `2 min 5 s`; empty while the turn runs. */
export const durationOf = (from: string | null, to: string | null): string => {
  if (from === null || to === null) return ''
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000
  if (seconds < 60) return formatSeconds(seconds)
  return t`${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

export const stopReasons: Record<string, Text> = {
  max_steps: msg`Step limit reached.`,
  max_time: msg`Time limit reached.`,
  max_tokens: msg`Output token limit reached.`,
  max_cost: msg`Cost limit reached.`,
  content_filter: msg`The model provider filtered the response.`,
  stream_truncated: msg`The model response was cut off.`,
  cancelled: msg`Stopped by a user.`,
}

const Totals = ({ turn }: { turn: Turn }) => {
  const { usage, pricing } = turn
  const isFree = Object.values(pricing).every((rate) => rate === 0)
  const items: Description[] = [
    [t`Status`, <State key="state" of={turn.status} />],
    [t`Model`, <code key="model">{turn.model}</code>],
    [t`Created`, formatDateTime(turn.createdAt)],
    [t`Duration`, durationOf(turn.startedAt, turn.endedAt) || t`Running`],
    [t`Input tokens`, `${formatNumber(usage.inputTokens)}${usage.isEstimate ? ` (${t`estimated`})` : ''}`],
    [t`Output tokens`, formatNumber(usage.outputTokens)],
    ...(usage.cacheReadTokens + usage.cacheWriteTokens > 0
      ? ([
          [
            t`Cache reads and writes`,
            t`${formatNumber(usage.cacheReadTokens)} and ${formatNumber(usage.cacheWriteTokens)}`,
          ],
        ] satisfies Description[])
      : []),
    [t`Model cost`, isFree ? t`Free` : formatMicrocents(turn.costMicrocents)],
    [t`Platform fee`, formatMicrocents(turn.platformFeeMicrocents)],
    [t`Charged`, <strong key="charged">{formatMicrocents(turn.chargedMicrocents)}</strong>],
  ]
  return <DescriptionList items={items} />
}

const Content = ({ turn }: { turn: Turn }) => (
  <>
    {turn.error && <Notice tone="bad">{apiText(turn.error.message)}</Notice>}
    {turn.stopReason !== null && stopReasons[turn.stopReason] !== undefined && (
      <Notice tone="warn">{textOf(stopReasons[turn.stopReason] ?? turn.stopReason)}</Notice>
    )}
    <Totals turn={turn} />
    {turn.steps.length > 0 && (
      <section className={styles['part']}>
        <h3>
          <Trans>Model calls</Trans>
        </h3>
        <Table
          label={t`Model calls`}
          rows={turn.steps}
          keyOf={({ step, attempt }) => `${step}.${attempt}`}
          columns={[
            { title: t`Step`, tight: true, cell: ({ step, attempt }) => (attempt > 1 ? t`${step}, retry` : step) },
            { title: t`Status`, cell: ({ status, error }) => (error ? apiText(error.message) : <State of={status} />) },
            { title: t`Input`, align: 'end', cell: ({ inputTokens }) => formatNumber(inputTokens) },
            { title: t`Output`, align: 'end', cell: ({ outputTokens }) => formatNumber(outputTokens) },
            { title: t`Cost`, align: 'end', cell: ({ costMicrocents }) => formatMicrocents(costMicrocents) },
            { title: t`Duration`, align: 'end', optional: true, cell: (s) => durationOf(s.startedAt, s.endedAt) },
          ]}
        />
      </section>
    )}
    {turn.toolCalls.length > 0 && (
      <section className={styles['part']}>
        <h3>
          <Trans>Tools</Trans>
        </h3>
        <Table
          label={t`Tools`}
          rows={turn.toolCalls}
          keyOf={({ id, step }) => `${step}.${id}`}
          columns={[
            { title: t`Step`, tight: true, cell: ({ step }) => step },
            { title: t`Tool`, cell: ({ toolName }) => <code>{toolName}</code> },
            { title: t`Status`, cell: ({ status }) => <State of={status} /> },
            { title: t`Duration`, align: 'end', cell: (call) => durationOf(call.startedAt, call.endedAt) },
          ]}
        />
      </section>
    )}
    {turn.attempts > 1 && (
      <p className={styles['note']}>
        <Trans>Resumed after a restart or an approval: {turn.attempts} attempts in total.</Trans>
      </p>
    )}
    {turn.leftOutExchanges > 0 && (
      <p className={styles['note']}>
        <Trans>
          The conversation exceeded the context window. The model did not receive the first {turn.leftOutExchanges}{' '}
          exchanges.
        </Trans>
      </p>
    )}
  </>
)

/** The steps, tool calls, duration and cost of a turn. */
export const Receipt = ({ turnId, onClose }: { turnId: string; onClose: () => void }) => {
  const turn = useQuery(read('GET /turns/:id', { params: { id: turnId } }))
  return (
    <Dialog open wide onClose={onClose} title={t`Receipt`}>
      <QueryBoundary query={turn} compact>
        {(data) => (
          // Focusable, so that the arrow keys scroll it.
          <div className={styles['content']} role="group" aria-label={t`Receipt`} tabIndex={0}>
            <Content turn={data} />
          </div>
        )}
      </QueryBoundary>
    </Dialog>
  )
}
