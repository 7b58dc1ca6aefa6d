import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
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
    title: msg`Webhook`,
    cell: (webhook: Webhook) => (
      <Link to={`/webhooks/${webhook.id}`} className={styles['name']}>
        <strong>{webhook.name}</strong>
        <span>{webhook.description ?? sourceName(webhook.source)}</span>
      </Link>
    ),
  },
  { title: msg`Status`, tight: true, cell: ({ status }: Webhook) => <WebhookState of={status} /> },
  {
    title: msg`Destination URL`,
    optional: true,
    cell: (webhook: Webhook) =>
      destinationOf(webhook) ?? (
        <span className={styles['faint']}>
          <Trans>None</Trans>
        </span>
      ),
  },
  {
    title: msg`Deliveries`,
    align: 'end' as const,
    optional: true,
    cell: ({ deliveryCount }: Webhook) => formatNumber(deliveryCount),
  },
  {
    title: msg`Last delivery`,
    optional: true,
    tight: true,
    cell: ({ lastDeliveryAt }: Webhook) =>
      lastDeliveryAt === null ? (
        <span className={styles['faint']}>
          <Trans>Never</Trans>
        </span>
      ) : (
        <RelativeTime at={lastDeliveryAt} />
      ),
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
            <EmptyState icon={<WebhookIcon />} title={t`No webhooks yet`} action={<CreateWebhook />}>
              <Trans>
                A webhook is an endpoint URL that receives events from another service and verifies their signatures.
              </Trans>
            </EmptyState>
          ) : (
            <Table
              label={t`Webhooks`}
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
