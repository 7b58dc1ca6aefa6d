import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Webhook } from '@atrium/client'
import { FlaskConical, Pause, Play } from 'lucide-react'
import { Outlet, useParams } from 'react-router'
import { api, read, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { QuotaNotice } from '../billing/quota-notice.tsx'
import { WebhookState } from './webhook-state.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const refreshWebhook = (): Promise<unknown> => refresh('GET /webhooks', 'GET /webhooks/:id')

const Actions = ({ webhook }: { webhook: Webhook }) => {
  const { can } = useIdentity()
  const reason = writeReason(can('webhooks:write'))
  const isActive = webhook.status === 'active'
  const change = useSubmit(async () => {
    const status = isActive ? 'paused' : 'active'
    await api
      .call('PATCH /webhooks/:id', { params: { id: webhook.id }, body: { status } })
      .catch((error: unknown) => toast.failed(t`Status could not be changed`, error))
    await refreshWebhook()
  })
  const test = useSubmit(async () => {
    try {
      await api.call('POST /webhooks/test', {
        body: {
          webhookId: webhook.id,
          type: 'test.ping',
          payload: { type: 'test.ping', message: t`Hello from Atrium` },
        },
      })
      toast.done(t`Test event sent`)
    } catch (error) {
      toast.failed(t`Test event could not be sent`, error)
    }
    await refresh('GET /webhooks/:id/events', 'GET /webhooks/:id/deliveries', 'GET /webhooks/events')
  })
  return (
    <>
      <Button icon={<FlaskConical />} busy={test.busy} disabledReason={reason} onClick={test.submit}>
        <Trans>Send test event</Trans>
      </Button>
      <Button icon={isActive ? <Pause /> : <Play />} busy={change.busy} disabledReason={reason} onClick={change.submit}>
        {isActive ? t`Pause` : t`Activate`}
      </Button>
    </>
  )
}

const StatusNotice = ({ webhook }: { webhook: Webhook }) => {
  if (webhook.status === 'active') return null
  const text =
    webhook.statusReason ??
    (webhook.status === 'paused'
      ? t`Forwarding is paused. Events are recorded and forwarded when the webhook is activated.`
      : t`This webhook is disabled. It rejects events and forwards none.`)
  return (
    <div className={styles['why']}>
      <Notice tone="warn">{text}</Notice>
    </div>
  )
}

export const WebhookPage = () => {
  const { webhookId = '' } = useParams()
  const webhook = useQuery(read('GET /webhooks/:id', { params: { id: webhookId } }))
  useTitle(webhook.data?.name ?? t`Webhook`)
  const base = `/webhooks/${webhookId}`
  return (
    <Page wide>
      <QueryBoundary query={webhook}>
        {(data) => (
          <>
            <PageHeader
              title={
                <span className={styles['heading']}>
                  {data.name} <WebhookState of={data.status} />
                </span>
              }
              description={data.description ?? undefined}
              actions={<Actions webhook={data} />}
            />
            <StatusNotice webhook={data} />
            <QuotaNotice name="eventsKept" />
            <div className={styles['receive']}>
              <CodeBlock text={data.receiveUrl} label={t`Copy endpoint URL`} />
            </div>
            <Tabs
              label={t`Webhook`}
              tabs={[
                { to: base, label: t`Events`, end: true },
                { to: `${base}/deliveries`, label: t`Deliveries` },
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
