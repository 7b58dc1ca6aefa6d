import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Delivery, Webhook } from '@atrium/client'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { Link, useOutletContext } from 'react-router'
import { api, keyOf, refresh } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { LiveList, useLiveList } from '../../live/live-list.tsx'
import { useOpenItem } from '../../open-item.ts'
import { useIdentity } from '../../session.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryState, isUnfinished } from './delivery-state.tsx'
import { FilterFields, NoMatches, useFilters } from './filters.tsx'
import { RetryFailedDialog } from './retry-failed-dialog.tsx'
import { TypeName } from '../../ui/text/type-name.tsx'
import { destinationOf } from './webhook-list.tsx'
import { writeReason } from './webhooks.tsx'

const responseOf = ({ response, error }: Delivery): string => {
  if (response) return String(response.status)
  return error ?? '–'
}

const columnsFor = (hrefOf: (id: string) => string): Column<Delivery>[] => [
  {
    title: t`Event`,
    cell: ({ id, eventType }) => (
      <Link to={hrefOf(id)}>
        <TypeName type={eventType} />
      </Link>
    ),
  },
  { title: t`Status`, tight: true, cell: ({ status }) => <DeliveryState of={status} /> },
  { title: t`Response`, optional: true, cell: responseOf },
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

const statuses = { unfinished: msg`Not finished`, succeeded: msg`Succeeded`, failed: msg`Failed` }

const pollMs = 2_500

const NoDeliveries = ({ webhook }: { webhook: Webhook }) =>
  destinationOf(webhook) === undefined ? (
    <EmptyState
      compact
      icon={<Send />}
      title={t`No destination URL`}
      action={
        <ButtonLink to={`/webhooks/${webhook.id}/settings`}>
          <Trans>Set destination URL</Trans>
        </ButtonLink>
      }
    >
      <Trans>
        Events are recorded but not forwarded. Set a destination URL to forward them and to see every attempt here.
      </Trans>
    </EmptyState>
  ) : (
    <EmptyState compact icon={<Send />} title={t`No deliveries yet`}>
      <Trans>
        Each recorded event is delivered to <code>{webhook.url}</code>.
      </Trans>
    </EmptyState>
  )

export const Deliveries = () => {
  const webhook = useOutletContext<Webhook>()
  const { can } = useIdentity()
  const opened = useOpenItem('delivery')
  const [isRetrying, setRetrying] = useState(false)
  const filters = useFilters(statuses)
  const deliveries = useLiveList(
    [...keyOf('GET /webhooks/:id/deliveries'), webhook.id, filters.key],
    (page, signal) => {
      const query = { ...page, ...filters.query() }
      return api.call('GET /webhooks/:id/deliveries', { params: { id: webhook.id }, query, signal })
    },
    // Attempts are not events.
    (items) => items.some(isUnfinished) && pollMs,
  )
  const recover = async (body: { since: string }) => {
    const recovered = await api.call('POST /webhooks/:id/recover', { params: { id: webhook.id }, body })
    await refresh('GET /webhooks/:id/deliveries')
    return recovered
  }
  return (
    <>
      {(filters.isFiltered || deliveries.items.length > 0) && <FilterFields statuses={statuses} />}
      <LiveList
        list={deliveries}
        label={t`Deliveries`}
        columns={columnsFor(opened.hrefOf)}
        onOpen={({ id }) => opened.open(id)}
        empty={filters.isFiltered ? <NoMatches list={deliveries.query} /> : <NoDeliveries webhook={webhook} />}
        actions={
          <Button small disabledReason={writeReason(can('webhooks:write'))} onClick={() => setRetrying(true)}>
            <Trans>Retry failed</Trans>
          </Button>
        }
      >
        {opened.value !== undefined && (
          <DeliveryDialog webhookId={webhook.id} deliveryId={opened.value} onClose={() => opened.open(undefined)} />
        )}
        {isRetrying && <RetryFailedDialog recover={recover} onClose={() => setRetrying(false)} />}
      </LiveList>
    </>
  )
}
