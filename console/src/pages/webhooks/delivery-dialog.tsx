import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Delivery } from '@atrium/client'
import { RotateCw } from 'lucide-react'
import { apiText } from '../../i18n/language.ts'
import { api, read, refresh } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { useIdentity } from '../../session.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Attempts } from './attempts.tsx'
import { DeliveryState, isUnfinished } from './delivery-state.tsx'
import { Headers } from './headers.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const Sent = ({ delivery }: { delivery: Delivery }) => {
  const params = { id: delivery.webhookId, eventId: delivery.eventId }
  const event = useQuery(read('GET /webhooks/:id/events/:eventId', { params }))
  return (
    <div className={styles['stack']}>
      <h3>
        <Trans>Request</Trans>
      </h3>
      <Headers
        title={t`Request headers`}
        headers={{
          'content-type': event.data?.headers['content-type'] ?? 'application/json',
          'webhook-id': delivery.eventId,
          'webhook-timestamp': t`Unix time of the attempt in seconds`,
          'webhook-signature': 'v1 signature with the webhook secret, different for each attempt',
        }}
      />
      <QueryBoundary query={event} compact>
        {({ payload }) => <JsonView value={payload} label={t`Request body`} />}
      </QueryBoundary>
    </div>
  )
}

const Content = ({ delivery }: { delivery: Delivery }) => (
  <>
    <DescriptionList
      items={[
        [t`Status`, <DeliveryState key="state" of={delivery.status} />],
        [t`Destination URL`, delivery.url === null ? t`None` : <code key="url">{delivery.url}</code>],
        [t`Created`, formatDateTime(delivery.createdAt)],
        [t`Next attempt`, delivery.nextAttemptAt === null ? t`None` : formatDateTime(delivery.nextAttemptAt)],
      ]}
    />
    {delivery.statusReason !== null && <Notice tone="info">{apiText(delivery.statusReason)}</Notice>}
    <Sent delivery={delivery} />
    <Attempts delivery={delivery} />
  </>
)

const pollMs = 2_000

/** One delivery: the request, every attempt with its response, and a retry button. */
export const DeliveryDialog = ({
  webhookId,
  deliveryId,
  onClose,
}: {
  webhookId: string
  deliveryId: string
  onClose: () => void
}) => {
  const { can } = useIdentity()
  const params = { id: webhookId, deliveryId }
  const fallback = useFallbackPolling()
  const delivery = useQuery({
    ...read('GET /webhooks/:id/deliveries/:deliveryId', { params }),
    // Attempts are not events.
    refetchInterval: ({ state: { data } }) => (data && isUnfinished(data) ? pollMs : fallback),
  })
  const retry = useSubmit(async () => {
    await api.call('POST /webhooks/:id/deliveries/:deliveryId/retry', { params })
    await refresh('GET /webhooks/:id/deliveries', 'GET /webhooks/:id/deliveries/:deliveryId')
  })
  const done = delivery.data?.status === 'succeeded' && t`This delivery succeeded. Replay the event to send it again.`
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={delivery.data ? t`Delivery of ${delivery.data.eventType}` : t`Delivery`}
      footer={
        <Button
          icon={<RotateCw />}
          busy={retry.busy}
          disabledReason={done || writeReason(can('webhooks:write'))}
          onClick={retry.submit}
        >
          <Trans>Retry now</Trans>
        </Button>
      }
    >
      <Notice error={retry.error} />
      <QueryBoundary query={delivery} compact>
        {(data) => <Content delivery={data} />}
      </QueryBoundary>
    </Dialog>
  )
}
