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

const states: Record<InboundEvent['status'], { tone: Tone; word: string }> = {
  recorded: { tone: 'neutral', word: 'Recorded' },
  waiting: { tone: 'info', word: 'Waiting' },
  running: { tone: 'info', word: 'Running' },
  answered: { tone: 'good', word: 'Answered' },
  silent: { tone: 'neutral', word: 'No response' },
  failed: { tone: 'bad', word: 'Failed' },
  unknown: { tone: 'warn', word: 'Unknown' },
}

const Events = ({ endpoint }: { endpoint: Endpoint }) => {
  const params = { id: endpoint.connectionId, endpointId: endpoint.id }
  const events = useQuery(read('GET /connections/:id/endpoints/:endpointId/events', { params, query: { limit: 10 } }))
  return (
    <QueryBoundary query={events} compact>
      {({ items }) =>
        items.length === 0 ? (
          <p className={styles['faint']}>No events in the last 7 days.</p>
        ) : (
          <Table
            label="Recent provider events"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Event', cell: ({ type }) => <code>{type}</code> },
              { title: 'From', optional: true, cell: ({ sender }) => sender ?? '–' },
              {
                title: 'Status',
                cell: ({ status, error }) => (
                  <>
                    <Badge tone={states[status].tone}>{states[status].word}</Badge> {error}
                  </>
                ),
              },
              { title: 'Received', tight: true, cell: ({ receivedAt }) => <RelativeTime at={receivedAt} /> },
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
      <h3>Event endpoints</h3>
      {endpoints.data.items.map((endpoint) => (
        <div key={endpoint.id} className={styles['part']}>
          <CodeBlock text={endpoint.url} label="Copy endpoint URL" />
          <p className={styles['faint']}>
            {endpoint.status === 'pending' && 'Setup pending. '}
            {endpoint.target !== null && `Target: ${endpoint.target}. `}
            {endpoint.agentId === null ? (
              'Events are recorded only.'
            ) : (
              <>
                Answered by{' '}
                <Link className="link" to={`/agents/${endpoint.agentId}`}>
                  an agent
                </Link>
                .
              </>
            )}
          </p>
          <Events endpoint={endpoint} />
        </div>
      ))}
    </section>
  )
}
