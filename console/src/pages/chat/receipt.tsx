import { useQuery } from '@tanstack/react-query'
import type { Turn } from 'atrium-sdk'
import { read } from '../../api.ts'
import { formatDateTime, formatMicrocents, formatNumber, formatWord } from '../../format.ts'
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

/** `0.4 s`, `2 min 5 s`; nothing while it has no end. */
export const durationOf = (from: string | null, to: string | null): string => {
  if (from === null || to === null) return ''
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000
  if (seconds < 60) return `${seconds.toLocaleString(undefined, { maximumFractionDigits: seconds < 10 ? 1 : 0 })} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

export const stopReasons: Record<string, string> = {
  max_steps: 'It took as many steps as it may.',
  max_time: 'It took as long as it may.',
  max_tokens: 'It said as much as it may.',
  max_cost: 'It cost as much as it may.',
  content_filter: 'The model’s provider filtered the answer.',
  stream_truncated: 'The model’s answer broke off.',
  cancelled: 'It was stopped.',
}

const Sums = ({ turn }: { turn: Turn }) => {
  const { usage, pricing } = turn
  const isFree = Object.values(pricing).every((rate) => rate === 0)
  const facts: Description[] = [
    ['State', <State key="state" of={turn.status} />],
    ['Model', <code key="model">{turn.model}</code>],
    ['Asked', formatDateTime(turn.createdAt)],
    ['Took', durationOf(turn.startedAt, turn.endedAt) || 'still at work'],
    ['Tokens in', `${formatNumber(usage.inputTokens)}${usage.isEstimate ? ' (estimated)' : ''}`],
    ['Tokens out', formatNumber(usage.outputTokens)],
    ...(usage.cacheReadTokens + usage.cacheWriteTokens > 0
      ? ([
          ['From and to cache', `${formatNumber(usage.cacheReadTokens)} and ${formatNumber(usage.cacheWriteTokens)}`],
        ] satisfies Description[])
      : []),
    ['Model cost', isFree ? 'free' : formatMicrocents(turn.costMicrocents)],
    ['Platform fee', formatMicrocents(turn.platformFeeMicrocents)],
    ['Charged', <strong key="charged">{formatMicrocents(turn.chargedMicrocents)}</strong>],
  ]
  return <DescriptionList items={facts} />
}

const Content = ({ turn }: { turn: Turn }) => (
  <>
    {turn.error && <Notice tone="bad">{turn.error.message}</Notice>}
    {turn.stopReason !== null && stopReasons[turn.stopReason] !== undefined && (
      <Notice tone="warn">{stopReasons[turn.stopReason]}</Notice>
    )}
    <Sums turn={turn} />
    {turn.steps.length > 0 && (
      <section className={styles['part']}>
        <h3>Calls of the model</h3>
        <Table
          label="Calls of the model"
          rows={turn.steps}
          keyOf={({ step, attempt }) => `${step}.${attempt}`}
          columns={[
            { title: 'Step', tight: true, cell: ({ step, attempt }) => (attempt > 1 ? `${step}, again` : step) },
            { title: 'State', cell: ({ status, error }) => (error ? error.message : <State of={status} />) },
            { title: 'In', align: 'end', cell: ({ inputTokens }) => formatNumber(inputTokens) },
            { title: 'Out', align: 'end', cell: ({ outputTokens }) => formatNumber(outputTokens) },
            { title: 'Cost', align: 'end', cell: ({ costMicrocents }) => formatMicrocents(costMicrocents) },
            { title: 'Took', align: 'end', optional: true, cell: (s) => durationOf(s.startedAt, s.endedAt) },
          ]}
        />
      </section>
    )}
    {turn.toolCalls.length > 0 && (
      <section className={styles['part']}>
        <h3>Tools</h3>
        <Table
          label="Tools"
          rows={turn.toolCalls}
          keyOf={({ id, step }) => `${step}.${id}`}
          columns={[
            { title: 'Step', tight: true, cell: ({ step }) => step },
            { title: 'Tool', cell: ({ toolName }) => <code>{toolName}</code> },
            { title: 'State', cell: ({ status }) => <State of={status} /> },
            { title: 'Took', align: 'end', cell: (call) => durationOf(call.startedAt, call.endedAt) },
          ]}
        />
      </section>
    )}
    {turn.attempts > 1 && (
      <p className={styles['note']}>Taken up {turn.attempts} times: a server stopped, or somebody had to decide.</p>
    )}
    {turn.leftOutExchanges > 0 && (
      <p className={styles['note']}>
        The first {turn.leftOutExchanges} exchanges of the conversation no longer fitted what the model reads.
      </p>
    )}
  </>
)

/** What a turn did, took and cost. */
export const Receipt = ({ turnId, onClose }: { turnId: string; onClose: () => void }) => {
  const turn = useQuery(read('GET /turns/:id', { params: { id: turnId } }))
  return (
    <Dialog open wide onClose={onClose} title="Receipt">
      <QueryBoundary query={turn} compact>
        {(data) => (
          // The arrow keys scroll it.
          <div className={styles['content']} role="group" aria-label="Receipt" tabIndex={0}>
            <Content turn={data} />
          </div>
        )}
      </QueryBoundary>
    </Dialog>
  )
}
