import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Endpoint, InboundEvent } from '@atrium/client'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import type { Tone } from '../../ui/data/badge.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table } from '../../ui/data/table.tsx'
import styles from './connections.module.css'

const states: Record<InboundEvent['status'], { tone: Tone; word: Text }> = {
  recorded: { tone: 'neutral', word: msg`Recorded` },
  waiting: { tone: 'info', word: msg`Waiting` },
  running: { tone: 'info', word: msg`Running` },
  answered: { tone: 'good', word: msg`Answered` },
  silent: { tone: 'neutral', word: msg`No response` },
  failed: { tone: 'bad', word: msg`Failed` },
  unknown: { tone: 'warn', word: msg`Unknown` },
}

const Events = ({ endpoint }: { endpoint: Endpoint }) => {
  const params = { id: endpoint.connectionId, endpointId: endpoint.id }
  const events = useQuery(read('GET /connections/:id/endpoints/:endpointId/events', { params, query: { limit: 10 } }))
  return (
    <QueryBoundary query={events} compact>
      {({ items }) =>
        items.length === 0 ? (
          <p className={styles['faint']}>
            <Trans>No events in the last 7 days.</Trans>
          </p>
        ) : (
          <Table
            label={t`Recent provider events`}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { title: t`Event`, cell: ({ type }) => <code>{type}</code> },
              { title: t`From`, optional: true, cell: ({ sender }) => sender ?? '–' },
              {
                title: t`Status`,
                cell: ({ status, error }) => (
                  <>
                    <Badge tone={states[status].tone}>{textOf(states[status].word)}</Badge> {error}
                  </>
                ),
              },
              { title: t`Received`, tight: true, cell: ({ receivedAt }) => <RelativeTime at={receivedAt} /> },
            ]}
          />
        )
      }
    </QueryBoundary>
  )
}

/** The endpoints of a connection with their recent events. */
export const Endpoints = ({ connectionId }: { connectionId: string }) => {
  const endpoints = useQuery(read('GET /connections/:id/endpoints', { params: { id: connectionId } }))
  if (!endpoints.data || endpoints.data.items.length === 0) return null
  return (
    <section className={styles['part']}>
      <h3>
        <Trans>Event endpoints</Trans>
      </h3>
      {endpoints.data.items.map((endpoint) => (
        <div key={endpoint.id} className={styles['part']}>
          <CodeBlock text={endpoint.url} label={t`Copy endpoint URL`} />
          <p className={styles['faint']}>
            {endpoint.status === 'pending' && t`Setup pending.`}{' '}
            {endpoint.target !== null && t`Target: ${endpoint.target}.`}{' '}
            {endpoint.agentId === null ? (
              t`Events are recorded only.`
            ) : (
              <Trans>
                Answered by{' '}
                <Link className="link" to={`/agents/${endpoint.agentId}`}>
                  an agent
                </Link>
                .
              </Trans>
            )}
          </p>
          <Events endpoint={endpoint} />
        </div>
      ))}
    </section>
  )
}
