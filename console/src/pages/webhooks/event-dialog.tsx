import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { WebhookEvent } from '@atrium/client'
import { Redo2 } from 'lucide-react'
import { useNavigate } from 'react-router'
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
  </>
)

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
