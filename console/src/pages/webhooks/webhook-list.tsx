import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Data, Webhook } from '@atrium/client'
import { Webhook as WebhookIcon } from 'lucide-react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Status } from '../../ui/data/status.tsx'
import { Table } from '../../ui/data/table.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { Health } from './health.tsx'
import { sourceName } from './sources.ts'
import { WebhookState } from './webhook-state.tsx'
import styles from './webhooks.module.css'
import { CreateWebhook } from './webhooks.tsx'

export const destinationOf = ({ url, receiveUrl }: Webhook): string | undefined =>
  url === receiveUrl ? undefined : url

type WebhookHealth = Data<'GET /webhooks/health'>['items'][number]
const pollMs = 5_000

type HealthOf = (id: string) => WebhookHealth | undefined

const columnsFor = (healthOf: HealthOf): Column<Webhook>[] => [
  {
    title: t`Webhook`,
    cell: (webhook) => (
      <Link to={`/webhooks/${webhook.id}`} className={styles['name']}>
        <strong>{webhook.name}</strong>
        <span>{webhook.description ?? sourceName(webhook.source)}</span>
        {destinationOf(webhook) !== undefined && (
          <span className="phone-only">
            <Trans>To {destinationOf(webhook)}</Trans>
          </span>
        )}
      </Link>
    ),
  },
  {
    title: t`Status`,
    tight: true,
    cell: ({ id, status }) => {
      const isFailing = status === 'active' && (healthOf(id)?.failingSince ?? null) !== null
      return isFailing ? <Status tone="bad">{t`Failing`}</Status> : <WebhookState of={status} />
    },
  },
  {
    title: t`Destination URL`,
    optional: true,
    cell: (webhook) =>
      destinationOf(webhook) ?? (
        <span className={styles['faint']}>
          <Trans>None</Trans>
        </span>
      ),
  },
  {
    title: t`Health`,
    optional: true,
    cell: (webhook) => {
      const health = healthOf(webhook.id)
      return health && destinationOf(webhook) !== undefined && <Health of={{ ...health, status: webhook.status }} />
    },
  },
  {
    title: t`Deliveries`,
    align: 'end',
    optional: true,
    cell: ({ deliveryCount }) => formatNumber(deliveryCount),
  },
  {
    title: t`Last result`,
    optional: true,
    tight: true,
    cell: ({ id, lastDeliveryAt }) => {
      const { lastResult = null, lastResultAt = null } = healthOf(id) ?? {}
      if (lastResult !== null && lastResultAt !== null)
        return (
          <Status tone={lastResult === 'succeeded' ? 'good' : 'bad'}>
            {lastResult === 'succeeded' ? t`Succeeded` : t`Failed`} <RelativeTime at={lastResultAt} />
          </Status>
        )
      if (lastDeliveryAt !== null) return <RelativeTime at={lastDeliveryAt} />
      return (
        <span className={styles['faint']}>
          <Trans>Never</Trans>
        </span>
      )
    },
  },
]

export const WebhookList = () => {
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const webhooks = useQuery(read('GET /webhooks'))
  // Attempts are not events.
  const health = useQuery({ ...read('GET /webhooks/health'), refetchInterval: pollMs })
  const healthOf: HealthOf = (id) => health.data?.items.find((one) => one.id === id)
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
              columns={columnsFor(healthOf)}
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
