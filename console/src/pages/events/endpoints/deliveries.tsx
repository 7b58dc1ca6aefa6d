import { textOf } from '../../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { EventDelivery, EventEndpoint } from '@atrium/client'
import { SearchX, Send } from 'lucide-react'
import { useState } from 'react'
import { Link, useOutletContext, useSearchParams } from 'react-router'
import { api, keyOf, refresh } from '../../../api.ts'
import { formatDateTime } from '../../../format.ts'
import { LiveList, useLiveList } from '../../../live/live-list.tsx'
import { useOpenItem } from '../../../open-item.ts'
import { withParams } from '../../../search-params.ts'
import { useIdentity } from '../../../session.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import type { Column } from '../../../ui/data/table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { DeliveryState, isUnfinished } from '../../webhooks/delivery-state.tsx'
import { RetryFailedDialog } from '../../webhooks/retry-failed-dialog.tsx'
import { TypeName } from '../../../ui/text/type-name.tsx'
import { EndpointDeliveryDialog } from './delivery-dialog.tsx'
import styles from './endpoints.module.css'

const statuses = { unfinished: msg`Unfinished`, succeeded: msg`Succeeded`, failed: msg`Failed` }
type Status = keyof typeof statuses

const noneOf = {
  unfinished: msg`No unfinished deliveries`,
  succeeded: msg`No succeeded deliveries`,
  failed: msg`No failed deliveries`,
}

const isStatus = (text: string | null): text is Status => text !== null && Object.hasOwn(statuses, text)

const columnsFor = (hrefOf: (id: string) => string): Column<EventDelivery>[] => [
  {
    title: t`Event`,
    cell: ({ id, eventType, isTest }) => (
      <>
        <Link to={hrefOf(id)}>
          <TypeName type={eventType} />
        </Link>{' '}
        {isTest && (
          <Badge>
            <Trans>Test</Trans>
          </Badge>
        )}
      </>
    ),
  },
  { title: t`Status`, tight: true, cell: ({ status }) => <DeliveryState of={status} /> },
  { title: t`Response`, optional: true, cell: ({ response, error }) => response?.status ?? error ?? '–' },
  { title: t`Attempts`, align: 'end', optional: true, cell: ({ attempts }) => attempts.length },
  {
    title: t`Next attempt`,
    optional: true,
    tight: true,
    cell: ({ nextAttemptAt, status }) =>
      nextAttemptAt === null || status === 'held' ? '–' : formatDateTime(nextAttemptAt),
  },
  { title: t`Created`, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
]

/** The response to `succeeded` can be empty although there are older ones. */
const responsesPerPage = 5

const loadPage = async (
  id: string,
  { status, ...page }: { status: Status | undefined; limit: number; cursor?: string },
  signal: AbortSignal,
): Promise<{ items: EventDelivery[]; nextCursor: string | null }> => {
  let query = { ...page, ...(status && { status }) }
  for (let responses = 1; ; responses += 1) {
    const found = await api.call('GET /event-endpoints/:id/deliveries', { params: { id }, query, signal })
    if (found.items.length > 0 || found.nextCursor === null || responses === responsesPerPage) return found
    query = { ...query, cursor: found.nextCursor }
  }
}

// A delivery appears with its event, but its attempts are not events. A list of ended ones does not contain those that
// end next, so it is loaded regularly.
const pollMs = { unfinished: 2_500, ended: 5_000 }

const pollOf = (status: Status | undefined) => (items: readonly EventDelivery[]) =>
  items.some(isUnfinished) ? pollMs.unfinished : (status === 'succeeded' || status === 'failed') && pollMs.ended

const NoDeliveries = ({
  endpoint,
  status,
  onOlder,
  busy,
}: {
  endpoint: EventEndpoint
  status: Status | undefined
  onOlder: (() => void) | undefined
  busy: boolean
}) =>
  status === undefined ? (
    <EmptyState compact icon={<Send />} title={t`No deliveries yet`}>
      <Trans>
        Events that match are sent to <code>{endpoint.url}</code> as they happen.
      </Trans>
    </EmptyState>
  ) : (
    <EmptyState
      compact
      icon={<SearchX />}
      title={onOlder ? t`No recent deliveries match` : textOf(noneOf[status])}
      action={
        onOlder && (
          <Button busy={busy} onClick={onOlder}>
            <Trans>Search older deliveries</Trans>
          </Button>
        )
      }
    />
  )

/** The deliveries of an endpoint, newest first. */
export const EndpointDeliveries = () => {
  const endpoint = useOutletContext<EventEndpoint>()
  const { can } = useIdentity()
  const [params, setParams] = useSearchParams()
  const opened = useOpenItem('delivery')
  const [isRetrying, setRetrying] = useState(false)
  const asked = params.get('status')
  const status = isStatus(asked) ? asked : undefined
  const { id } = endpoint
  const deliveries = useLiveList(
    [...keyOf('GET /event-endpoints/:id/deliveries'), id, status],
    (query, signal) => loadPage(id, { ...query, status }, signal),
    pollOf(status),
  )
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = deliveries.query
  const recover = async (body: { since: string }) => {
    const recovered = await api.call('POST /event-endpoints/:id/recover', { params: { id }, body })
    await refresh('GET /event-endpoints/:id/deliveries')
    return recovered
  }
  return (
    <>
      <div className={styles['bar']}>
        <SelectField
          label={t`Status`}
          hideLabel
          value={status ?? ''}
          onChange={({ target }) => setParams(withParams(params, { status: target.value }), { replace: true })}
        >
          <option value="">
            <Trans>All deliveries</Trans>
          </option>
          {Object.entries(statuses).map(([value, label]) => (
            <option key={value} value={value}>
              {textOf(label)}
            </option>
          ))}
        </SelectField>
        {can('webhooks:write') && (
          <Button onClick={() => setRetrying(true)}>
            <Trans>Retry failed</Trans>
          </Button>
        )}
      </div>
      <LiveList
        list={deliveries}
        label={t`Deliveries`}
        columns={columnsFor(opened.hrefOf)}
        onOpen={(delivery) => opened.open(delivery.id)}
        empty={
          <NoDeliveries
            endpoint={endpoint}
            status={status}
            onOlder={hasNextPage ? () => void fetchNextPage() : undefined}
            busy={isFetchingNextPage}
          />
        }
      >
        {opened.value !== undefined && (
          <EndpointDeliveryDialog endpointId={id} deliveryId={opened.value} onClose={() => opened.open(undefined)} />
        )}
        {isRetrying && <RetryFailedDialog recover={recover} onClose={() => setRetrying(false)} />}
      </LiveList>
    </>
  )
}
