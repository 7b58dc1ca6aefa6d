import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { EventDelivery } from '@atrium/client'
import { RotateCw } from 'lucide-react'
import { apiText } from '../../../i18n/language.ts'
import { api, isCode, read, refresh } from '../../../api.ts'
import { formatDateTime } from '../../../format.ts'
import { useFallbackPolling } from '../../../live/connection.ts'
import { useIdentity } from '../../../session.tsx'
import { DescriptionList } from '../../../ui/data/description-list.tsx'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Button, ButtonLink } from '../../../ui/forms/button.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { Notice } from '../../../ui/notice.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { Attempts } from '../../webhooks/attempts.tsx'
import { DeliveryState, isUnfinished } from '../../webhooks/delivery-state.tsx'
import { useEventTypes } from '../areas.ts'
import styles from './endpoints.module.css'

/** The event in the log, which has none for a test. */
const useEvent = (delivery: EventDelivery | undefined) =>
  useQuery({
    ...read('GET /events/:id', { params: { id: delivery?.eventId ?? '' } }),
    enabled: delivery?.isTest === false,
    // An event never changes.
    staleTime: Infinity,
  })

const TestData = ({ type }: { type: string }) => {
  const { exampleData } = useEventTypes().data?.items.find((one) => one.type === type) ?? {}
  return (
    <>
      <p className={styles['faint']}>
        <Trans>A test event with example data. It is not in the log.</Trans>
      </p>
      {exampleData && <JsonView value={exampleData} label={t`Example data`} />}
    </>
  )
}

const LoggedEvent = ({ delivery }: { delivery: EventDelivery }) => {
  const event = useEvent(delivery)
  if (isCode(event.error, 'NOT_FOUND') || isCode(event.error, 'FORBIDDEN'))
    return (
      <p className={styles['faint']}>
        <Trans>The event is too old, or you do not have permission to read it.</Trans>
      </p>
    )
  return (
    <QueryBoundary query={event} compact>
      {(data) => <JsonView value={data} label={t`Event`} />}
    </QueryBoundary>
  )
}

const Content = ({ delivery }: { delivery: EventDelivery }) => (
  <>
    <DescriptionList
      items={[
        [t`Status`, <DeliveryState key="state" of={delivery.status} />],
        [t`Created`, formatDateTime(delivery.createdAt)],
        [t`Next attempt`, delivery.nextAttemptAt === null ? t`None` : formatDateTime(delivery.nextAttemptAt)],
        [t`Event ID`, <code key="event">{delivery.eventId}</code>],
      ]}
    />
    {delivery.statusReason !== null && <Notice tone="info">{apiText(delivery.statusReason)}</Notice>}
    <Attempts delivery={delivery} />
    <div className={styles['stack']}>
      <h3>
        <Trans>Event</Trans>
      </h3>
      {delivery.isTest ? <TestData type={delivery.eventType} /> : <LoggedEvent delivery={delivery} />}
    </div>
  </>
)

const pollMs = 2_000

/** One delivery: its attempts, its event, and a retry button. */
export const EndpointDeliveryDialog = ({
  endpointId,
  deliveryId,
  onClose,
}: {
  endpointId: string
  deliveryId: string
  onClose: () => void
}) => {
  const { can } = useIdentity()
  const params = { id: endpointId, deliveryId }
  const fallback = useFallbackPolling()
  const delivery = useQuery({
    ...read('GET /event-endpoints/:id/deliveries/:deliveryId', { params }),
    // Attempts are not events.
    refetchInterval: ({ state: { data } }) => (data && isUnfinished(data) ? pollMs : fallback),
  })
  const event = useEvent(delivery.data)
  const retry = useSubmit(async () => {
    await api.call('POST /event-endpoints/:id/deliveries/:deliveryId/retry', { params })
    await refresh('GET /event-endpoints/:id/deliveries', 'GET /event-endpoints/:id/deliveries/:deliveryId')
  })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={delivery.data ? t`Delivery of ${delivery.data.eventType}` : t`Delivery`}
      footer={
        <>
          {event.data && (
            <ButtonLink to={`/events?event=${event.data.id}`}>
              <Trans>Open event in log</Trans>
            </ButtonLink>
          )}
          {can('webhooks:write') && (
            <Button
              icon={<RotateCw />}
              busy={retry.busy}
              disabledReason={delivery.data?.status === 'succeeded' && t`This delivery succeeded.`}
              onClick={retry.submit}
            >
              <Trans>Retry now</Trans>
            </Button>
          )}
        </>
      }
    >
      <Notice error={retry.error} />
      <QueryBoundary query={delivery} compact>
        {(data) => <Content delivery={data} />}
      </QueryBoundary>
    </Dialog>
  )
}
