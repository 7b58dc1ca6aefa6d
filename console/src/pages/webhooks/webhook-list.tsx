import { useQuery } from '@tanstack/react-query'
import type { Webhook } from '@atrium/client'
import { Webhook as WebhookIcon } from 'lucide-react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { sourceName } from './sources.ts'
import { WebhookState } from './webhook-state.tsx'
import styles from './webhooks.module.css'
import { CreateWebhook } from './webhooks.tsx'

export const destinationOf = ({ url, receiveUrl }: Webhook): string | undefined =>
  url === receiveUrl ? undefined : url

const columns = [
  {
    title: 'Webhook',
    cell: (webhook: Webhook) => (
      <Link to={`/webhooks/${webhook.id}`} className={styles['name']}>
        <strong>{webhook.name}</strong>
        <span>{webhook.description ?? sourceName(webhook.source)}</span>
      </Link>
    ),
  },
  { title: 'Status', tight: true, cell: ({ status }: Webhook) => <WebhookState of={status} /> },
  {
    title: 'Destination URL',
    optional: true,
    cell: (webhook: Webhook) => destinationOf(webhook) ?? <span className={styles['faint']}>None</span>,
  },
  {
    title: 'Deliveries',
    align: 'end' as const,
    optional: true,
    cell: ({ deliveryCount }: Webhook) => formatNumber(deliveryCount),
  },
  {
    title: 'Last delivery',
    optional: true,
    tight: true,
    cell: ({ lastDeliveryAt }: Webhook) =>
      lastDeliveryAt === null ? <span className={styles['faint']}>Never</span> : <RelativeTime at={lastDeliveryAt} />,
  },
]

export const WebhookList = () => {
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const webhooks = useQuery(read('GET /webhooks'))
  return (
    <>
      <QueryBoundary query={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon={<WebhookIcon />} title="No webhooks yet" action={<CreateWebhook />}>
              A webhook is an endpoint URL that receives events from another service and verifies their signatures.
            </EmptyState>
          ) : (
            <Table
              label="Webhooks"
              columns={columns}
              rows={items}
              keyOf={({ id }) => id}
              onOpen={({ id }) => void navigate(`/webhooks/${id}`)}
            />
          )
        }
      </QueryBoundary>
      {params.has('new') && <CreateDialog onClose={() => setParams({}, { replace: true })} />}
    </>
  )
}
