import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { WebhookEvent } from '@atrium/client'
import { Redo2 } from 'lucide-react'
import { Link, useNavigate } from 'react-router'
import { api, read, refresh } from '../../api.ts'
import { formatBytes, formatDateTime } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { DeliveryState, isUnfinished } from './delivery-state.tsx'
import { Headers } from './headers.tsx'
import { destinationOf } from './webhook-list.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const Content = ({ event }: { event: WebhookEvent }) => (
  <>
    <DescriptionList
      items={[
        [t`Webhook`, event.webhookName],
        [t`Status`, <Badge key="state">{event.status === 'recorded' ? t`Recorded` : t`Filtered by event type`}</Badge>],
        [t`Received`, formatDateTime(event.receivedAt)],
        [t`Size`, formatBytes(event.sizeBytes)],
        [t`Event ID`, <code key="id">{event.id}</code>],
        [t`Sender’s event ID`, event.externalId === null ? t`None` : <code key="external">{event.externalId}</code>],
      ]}
    />
    <div className={styles['stack']}>
      <h3>
        <Trans>Payload</Trans>
      </h3>
      <JsonView value={event.payload} label={t`Payload`} />
    </div>
    <Headers headers={event.headers} />
    <Deliveries event={event} />
  </>
)

const pollMs = 2_500

const withoutDeliveries = (event: WebhookEvent): string =>
  event.status === 'filtered'
    ? t`Not forwarded, because the webhook does not forward events of this type.`
    : t`Not forwarded.`

/** The deliveries of an event, the first one first. */
const Deliveries = ({ event }: { event: WebhookEvent }) => {
  const { id: eventId, webhookId } = event
  const deliveries = useQuery({
    ...read('GET /webhooks/:id/deliveries', { params: { id: webhookId }, query: { eventId } }),
    // Attempts are not events.
    refetchInterval: ({ state }) => state.data?.items.some(isUnfinished) === true && pollMs,
  })
  return (
    <div className={styles['stack']}>
      <h3>
        <Trans>Deliveries</Trans>
      </h3>
      <QueryBoundary query={deliveries} compact>
        {({ items }) =>
          items.length === 0 ? (
            <p className={styles['faint']}>{withoutDeliveries(event)}</p>
          ) : (
            <ul className={styles['deliveries']} aria-label={t`Deliveries`}>
              {items.map(({ id, status, response, attempts, createdAt }) => (
                <li key={id}>
                  <Link to={`/webhooks/${webhookId}/deliveries?delivery=${id}`} className="link">
                    {formatDateTime(createdAt)}
                  </Link>
                  <DeliveryState of={status} />
                  {response !== null && <code>{response.status}</code>}
                  <span>
                    <Plural value={attempts.length} one="# attempt" other="# attempts" />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryBoundary>
    </div>
  )
}

/** One event: payload, headers and a replay button. */
export const EventDialog = ({
  webhookId,
  eventId,
  onClose,
}: {
  webhookId: string
  eventId: string
  onClose: () => void
}) => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  const event = useQuery(read('GET /webhooks/:id/events/:eventId', { params: { id: webhookId, eventId } }))
  const webhook = useQuery(read('GET /webhooks/:id', { params: { id: webhookId } }))
  const replay = useSubmit(async () => {
    const params = { id: webhookId, eventId }
    const delivery = await api.call('POST /webhooks/:id/events/:eventId/replay', { params })
    await refresh('GET /webhooks/:id/deliveries')
    toast.done(t`Event replayed`, {
      label: t`View delivery`,
      onClick: () => void navigate(`/webhooks/${webhookId}/deliveries?delivery=${delivery.id}`),
    })
    onClose()
  })
  const hasNoDestination = webhook.data && destinationOf(webhook.data) === undefined
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={event.data?.type ?? t`Event`}
      footer={
        <Button
          icon={<Redo2 />}
          busy={replay.busy}
          disabledReason={
            hasNoDestination === true ? t`This webhook has no destination URL.` : writeReason(can('webhooks:write'))
          }
          onClick={replay.submit}
        >
          <Trans>Replay event</Trans>
        </Button>
      }
    >
      <Notice error={replay.error} />
      <QueryBoundary query={event} compact>
        {(data) => <Content event={data} />}
      </QueryBoundary>
    </Dialog>
  )
}
