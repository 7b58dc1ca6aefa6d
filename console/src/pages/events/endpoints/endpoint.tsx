import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { EventEndpoint } from '@atrium/client'
import { FlaskConical, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { Link, Outlet, useParams } from 'react-router'
import { apiText } from '../../../i18n/language.ts'
import { api, read, refresh } from '../../../api.ts'
import { formatDateTime } from '../../../format.ts'
import { useFallbackPolling } from '../../../live/connection.ts'
import { useIdentity } from '../../../session.tsx'
import { useTitle } from '../../../title.ts'
import { DescriptionList } from '../../../ui/data/description-list.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { CodeBlock } from '../../../ui/forms/code-block.tsx'
import { Tabs } from '../../../ui/forms/tabs.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { Notice } from '../../../ui/notice.tsx'
import { Page, PageHeader } from '../../../ui/page.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { toast } from '../../../ui/toast.tsx'
import { EndpointState } from './endpoint-state.tsx'
import styles from './endpoints.module.css'
import { Health } from '../../webhooks/health.tsx'
import { TestDialog } from './test-dialog.tsx'
import { TypeList } from './type-list.tsx'

// Results of deliveries are not events.
const pollMs = 5_000

/** Changes fields of an endpoint from a button beside its data. */
const usePatch = (endpoint: EventEndpoint, failure: string) => {
  const params = { id: endpoint.id }
  return (body: { status: EventEndpoint['status'] } | { url: string }) => async () => {
    await api
      .call('PATCH /event-endpoints/:id', { params, body })
      .catch((error: unknown) => toast.failed(failure, error))
    await refresh('GET /event-endpoints', 'GET /event-endpoints/:id', 'GET /event-endpoints/:id/deliveries')
  }
}

const Actions = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const [isTesting, setTesting] = useState(false)
  const patch = usePatch(endpoint, t`Status could not be changed`)
  const isActive = endpoint.status === 'active'
  const change = useSubmit(patch({ status: isActive ? 'paused' : 'active' }))
  return (
    <>
      <Button
        icon={<FlaskConical />}
        disabledReason={endpoint.status === 'disabled' && t`The endpoint is disabled. Activate it first.`}
        onClick={() => setTesting(true)}
      >
        <Trans>Send test event</Trans>
      </Button>
      <Button icon={isActive ? <Pause /> : <Play />} busy={change.busy} onClick={change.submit}>
        {isActive ? t`Pause` : t`Activate`}
      </Button>
      {isTesting && <TestDialog endpoint={endpoint} onClose={() => setTesting(false)} />}
    </>
  )
}

/** Why nothing is delivered, and what helps. */
const StatusNotice = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const { can } = useIdentity()
  const { status, statusReason, failingSince, url } = endpoint
  const patch = usePatch(endpoint, t`Endpoint could not be changed`)
  const activate = useSubmit(patch({ status: 'active' }))
  const takeOver = useSubmit(patch({ url }))
  if (status === 'disabled')
    return (
      <Notice tone="bad">
        <span>
          {apiText(statusReason ?? t`This endpoint is disabled.`)}{' '}
          <Trans>It receives no events until it is active again. Events of that time are in the log.</Trans>
        </span>
        {can('webhooks:write') && (
          <span className={styles['remedy']}>
            <Button small busy={activate.busy} onClick={activate.submit}>
              <Trans>Activate endpoint</Trans>
            </Button>
          </span>
        )}
      </Notice>
    )
  if (status === 'paused')
    return (
      <Notice tone="warn">
        <Trans>Deliveries are paused. Events are kept and sent when the endpoint is active again.</Trans>
      </Notice>
    )
  if (statusReason !== null)
    return (
      <Notice tone="bad">
        <span>{apiText(statusReason)}</span>
        {can('webhooks:write') && (
          <span className={styles['remedy']}>
            <Button small busy={takeOver.busy} onClick={takeOver.submit}>
              <Trans>Deliver with my rights</Trans>
            </Button>
          </span>
        )}
      </Notice>
    )
  if (failingSince !== null)
    return (
      <Notice tone="warn">
        <Trans>
          All attempts have failed since {formatDateTime(failingSince)}. After five days the endpoint is disabled.
        </Trans>
      </Notice>
    )
  return null
}

/** The name of the person who set the URL, if this person may know it. */
const Owner = ({ owner: { userId, apiKeyId } }: Pick<EventEndpoint, 'owner'>) => {
  const { session, can } = useIdentity()
  const isSelf = userId === session.user.id
  const members = useQuery({ ...read('GET /members', { query: { userId } }), enabled: !isSelf && can('members:read') })
  const name = isSelf ? t`You` : members.data?.items[0]?.name
  return (
    <>
      {name ?? <code>{userId}</code>}
      {apiKeyId !== null && ` (${t`by an API key`})`}
    </>
  )
}

const Summary = ({ endpoint }: { endpoint: EventEndpoint }) => (
  <div className={styles['summary']}>
    <CodeBlock text={endpoint.url} label={t`Copy URL`} />
    <DescriptionList
      items={[
        [t`Event types`, <TypeList key="types" types={endpoint.types} most={3} />],
        [t`Health`, <Health key="health" of={endpoint} />],
        [
          t`Last delivery`,
          endpoint.lastDeliveryAt === null ? t`Never` : <RelativeTime key="last" at={endpoint.lastDeliveryAt} />,
        ],
        [t`URL set by`, <Owner key="owner" owner={endpoint.owner} />],
      ]}
    />
  </div>
)

export const EndpointPage = () => {
  const { endpointId = '' } = useParams()
  const { can } = useIdentity()
  const fallback = useFallbackPolling()
  const endpoint = useQuery({
    ...read('GET /event-endpoints/:id', { params: { id: endpointId } }),
    refetchInterval: ({ state: { data } }) => (data?.status === 'active' ? pollMs : fallback),
  })
  useTitle(endpoint.data?.name ?? t`Event endpoint`)
  const base = `/events/endpoints/${endpointId}`
  return (
    <Page wide>
      <QueryBoundary query={endpoint}>
        {(data) => (
          <>
            <PageHeader
              title={
                <span className={styles['heading']}>
                  {data.name} <EndpointState of={data} />
                </span>
              }
              description={
                <Link to="/events/endpoints" className="link">
                  <Trans>All endpoints</Trans>
                </Link>
              }
              {...(can('webhooks:write') && { actions: <Actions endpoint={data} /> })}
            />
            <div className={styles['why']}>
              <StatusNotice endpoint={data} />
            </div>
            <Summary endpoint={data} />
            <Tabs
              label={t`Event endpoint`}
              tabs={[
                { to: base, label: t`Deliveries`, end: true },
                { to: `${base}/settings`, label: t`Settings` },
              ]}
            />
            <Outlet key={data.id} context={data} />
          </>
        )}
      </QueryBoundary>
    </Page>
  )
}
