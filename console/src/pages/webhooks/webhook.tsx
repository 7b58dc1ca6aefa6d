import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Webhook } from '@atrium/client'
import { FlaskConical, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { Link, Outlet, useParams } from 'react-router'
import { apiText } from '../../i18n/language.ts'
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
import { TestDialog } from './test-dialog.tsx'
import { destinationOf } from './webhook-list.tsx'
import { WebhookState } from './webhook-state.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const refreshWebhook = (): Promise<unknown> => refresh('GET /webhooks', 'GET /webhooks/:id')

const Actions = ({ webhook }: { webhook: Webhook }) => {
  const { can } = useIdentity()
  const reason = writeReason(can('webhooks:write'))
  const isActive = webhook.status === 'active'
  const disabled = webhook.status === 'disabled' && t`This webhook is disabled and rejects events.`
  const [isTesting, setTesting] = useState(false)
  const change = useSubmit(async () => {
    const status = isActive ? 'paused' : 'active'
    await api
      .call('PATCH /webhooks/:id', { params: { id: webhook.id }, body: { status } })
      .catch((error: unknown) => toast.failed(t`Status could not be changed`, error))
    await refreshWebhook()
  })
  return (
    <>
      <Button icon={<FlaskConical />} disabledReason={reason || disabled} onClick={() => setTesting(true)}>
        <Trans>Send test event</Trans>
      </Button>
      <Button icon={isActive ? <Pause /> : <Play />} busy={change.busy} disabledReason={reason} onClick={change.submit}>
        {isActive ? t`Pause` : t`Activate`}
      </Button>
      {isTesting && <TestDialog webhook={webhook} onClose={() => setTesting(false)} />}
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
      <Notice tone="warn">{apiText(text)}</Notice>
    </div>
  )
}

const Urls = ({ webhook }: { webhook: Webhook }) => {
  const destination = destinationOf(webhook)
  return (
    <div className={styles['urls']}>
      <div>
        <h2>
          <Trans>Endpoint URL</Trans>
        </h2>
        <CodeBlock text={webhook.receiveUrl} label={t`Copy endpoint URL`} />
      </div>
      <div>
        <h2>
          <Trans>Destination URL</Trans>
        </h2>
        {destination === undefined ? (
          <p className={styles['faint']}>
            <Trans>
              None: events are recorded and not forwarded.{' '}
              <Link to={`/webhooks/${webhook.id}/settings`} className="link">
                Set destination URL
              </Link>
            </Trans>
          </p>
        ) : (
          <CodeBlock text={destination} label={t`Copy destination URL`} />
        )}
      </div>
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
            <Urls webhook={data} />
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
