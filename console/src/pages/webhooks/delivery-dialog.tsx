import { useQuery } from '@tanstack/react-query'
import type { Delivery } from 'atrium-sdk'
import { RotateCw } from 'lucide-react'
import { api, read, refresh } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { DeliveryState, isUnfinished } from './delivery-state.tsx'
import { Headers } from './headers.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

type Attempt = Delivery['attempts'][number]

const isSuccess = ({ responseStatus }: Attempt): boolean =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300

const AttemptItem = ({ attempt, last }: { attempt: Attempt; last: Delivery | undefined }) => (
  <li>
    <div className={styles['attemptHead']}>
      <strong>Attempt {attempt.number}</strong>
      <Badge tone={isSuccess(attempt) ? 'good' : 'bad'}>{attempt.responseStatus ?? 'No response'}</Badge>
      {attempt.trigger === 'manual' && <Badge>Manual</Badge>}
      <span className={styles['faint']}>
        {formatDateTime(attempt.at)}, {attempt.durationMs} ms
      </span>
    </div>
    <code className={styles['address']}>POST {attempt.url}</code>
    {attempt.error !== null && <Notice tone="bad">{attempt.error}</Notice>}
    {last?.response && (
      <>
        <Headers headers={last.response.headers} title="Response headers" />
        {last.response.body === '' ? (
          <p className={styles['faint']}>Empty response body.</p>
        ) : (
          <JsonView value={last.response.body} label="Response body" />
        )}
        {last.response.truncated && <p className={styles['faint']}>Only the first 4 KB of the body are stored.</p>}
      </>
    )}
  </li>
)

const Sent = ({ delivery }: { delivery: Delivery }) => {
  const params = { id: delivery.webhookId, eventId: delivery.eventId }
  const event = useQuery(read('GET /webhooks/:id/events/:eventId', { params }))
  return (
    <div className={styles['stack']}>
      <h3>Request</h3>
      <Headers
        title="Request headers"
        headers={{
          'content-type': event.data?.headers['content-type'] ?? 'application/json',
          'webhook-id': delivery.eventId,
          'webhook-timestamp': 'Unix time of the attempt in seconds',
          'webhook-signature': 'v1 signature with the webhook secret, different for each attempt',
        }}
      />
      <QueryBoundary query={event} compact>
        {({ payload }) => <JsonView value={payload} label="Request body" />}
      </QueryBoundary>
    </div>
  )
}

const Content = ({ delivery }: { delivery: Delivery }) => (
  <>
    <DescriptionList
      items={[
        ['Status', <DeliveryState key="state" of={delivery.status} />],
        ['Created', formatDateTime(delivery.createdAt)],
        ['Next attempt', delivery.nextAttemptAt === null ? 'None' : formatDateTime(delivery.nextAttemptAt)],
      ]}
    />
    {delivery.statusReason !== null && <Notice tone="info">{delivery.statusReason}</Notice>}
    <Sent delivery={delivery} />
    <div className={styles['stack']}>
      <h3>Attempts</h3>
      {delivery.attempts.length === 0 ? (
        <p className={styles['faint']}>No attempts yet.</p>
      ) : (
        <ol className={styles['attempts']}>
          {delivery.attempts.toReversed().map((attempt, index) => (
            <AttemptItem key={attempt.number} attempt={attempt} last={index === 0 ? delivery : undefined} />
          ))}
        </ol>
      )}
    </div>
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
  const done = delivery.data?.status === 'succeeded' && 'This delivery succeeded. Replay the event to send it again.'
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={delivery.data ? `Delivery of ${delivery.data.eventType}` : 'Delivery'}
      footer={
        <Button
          icon={<RotateCw />}
          busy={retry.busy}
          disabledReason={done || writeReason(can('webhooks:write'))}
          onClick={retry.submit}
        >
          Retry now
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
