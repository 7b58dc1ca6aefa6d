import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Webhook, WebhookEvent } from '@atrium/client'
import { Radio } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useOutletContext } from 'react-router'
import { api, keyOf } from '../../api.ts'
import { formatBytes } from '../../format.ts'
import { LiveList, useLiveList } from '../../live/live-list.tsx'
import type { LiveItems } from '../../live/live-list.tsx'
import { useOpenItem } from '../../open-item.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { TypeName } from '../../ui/text/type-name.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { EventDialog } from './event-dialog.tsx'
import { FilterFields, NoMatches, useFilters } from './filters.tsx'
import { TestCommand } from './secret-dialog.tsx'
import styles from './webhooks.module.css'

/** The URL parameter of an open event. It contains both IDs, so that the link works after the event has left the list. */
const keyOfEvent = ({ webhookId, id }: WebhookEvent): string => `${webhookId}.${id}`

const columnsFor = (hrefOf: (key: string) => string, withName: boolean): Column<WebhookEvent>[] => [
  {
    title: t`Event`,
    cell: (event) => (
      <span className={styles['event']}>
        <Link to={hrefOf(keyOfEvent(event))}>
          <TypeName type={event.type} />
        </Link>
        {withName && <span className="phone-only">{event.webhookName}</span>}
      </span>
    ),
  },
  ...(withName
    ? [
        {
          title: t`Webhook`,
          optional: true,
          cell: ({ webhookId, webhookName }: WebhookEvent) => (
            <Link to={`/webhooks/${webhookId}`} className="link">
              {webhookName}
            </Link>
          ),
        },
      ]
    : []),
  {
    title: t`Status`,
    tight: true,
    cell: ({ status }) =>
      status === 'recorded' ? (
        <Badge tone="good">
          <Trans>Recorded</Trans>
        </Badge>
      ) : (
        <Badge>
          <Trans>Filtered</Trans>
        </Badge>
      ),
  },
  { title: t`Sender’s event ID`, optional: true, cell: ({ externalId }) => <code>{externalId ?? '–'}</code> },
  { title: t`Size`, optional: true, align: 'end', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
  { title: t`Received`, tight: true, cell: ({ receivedAt }) => <RelativeTime at={receivedAt} /> },
]

const statuses = { recorded: msg`Recorded`, filtered: msg`Filtered` }

const EventList = ({
  events,
  isFiltered,
  webhook,
  empty,
}: {
  events: LiveItems<WebhookEvent>
  isFiltered: boolean
  /** Undefined for the events of all webhooks, which get a column with the webhook. */
  webhook?: Webhook
  empty: ReactNode
}) => {
  const opened = useOpenItem('event')
  const [webhookId, eventId] = opened.value?.split('.') ?? []
  // Filters of an empty list would filter nothing.
  const hasFilters = isFiltered || events.items.length > 0
  return (
    <>
      {hasFilters && <FilterFields statuses={statuses} />}
      <LiveList
        list={events}
        label={t`Events`}
        columns={columnsFor(opened.hrefOf, webhook === undefined)}
        onOpen={(event) => opened.open(keyOfEvent(event))}
        empty={isFiltered ? <NoMatches list={events.query} /> : empty}
      >
        {webhookId !== undefined && eventId !== undefined && (
          <EventDialog webhookId={webhookId} eventId={eventId} onClose={() => opened.open(undefined)} />
        )}
      </LiveList>
    </>
  )
}

/** The events of all webhooks of the org. */
export const OrgEvents = () => {
  const filters = useFilters(statuses)
  const events = useLiveList([...keyOf('GET /webhooks/events'), filters.key], (page, signal) =>
    api.call('GET /webhooks/events', { query: { ...page, ...filters.query() }, signal }),
  )
  const empty = (
    <EmptyState icon={<Radio />} title={t`No events yet`}>
      <Trans>Events of all webhooks appear here as they arrive.</Trans>
    </EmptyState>
  )
  return <EventList events={events} isFiltered={filters.isFiltered} empty={empty} />
}

/** The events of one webhook; before the first event, a command that sends one. */
export const WebhookEvents = () => {
  const webhook = useOutletContext<Webhook>()
  const filters = useFilters(statuses)
  const events = useLiveList([...keyOf('GET /webhooks/:id/events'), webhook.id, filters.key], (page, signal) => {
    const query = { ...page, ...filters.query() }
    return api.call('GET /webhooks/:id/events', { params: { id: webhook.id }, query, signal })
  })
  const empty = (
    <div className={styles['waiting']}>
      <EmptyState compact icon={<Radio />} title={t`Waiting for the first event`}>
        <Trans>Events appear here as they arrive. Run this command to send a signed test event:</Trans>
      </EmptyState>
      {webhook.status === 'disabled' && (
        <Notice tone="warn">
          <Trans>This webhook is disabled and rejects events.</Trans>
        </Notice>
      )}
      <TestCommand webhook={webhook} />
    </div>
  )
  return <EventList events={events} isFiltered={filters.isFiltered} webhook={webhook} empty={empty} />
}
