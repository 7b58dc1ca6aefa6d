import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Plus } from 'lucide-react'
import { Outlet, useNavigate } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import { QuotaNotice } from '../billing/quota-notice.tsx'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && t`You do not have permission to change webhooks.`

export const CreateWebhook = () => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  return (
    <Button
      variant="primary"
      icon={<Plus />}
      disabledReason={writeReason(can('webhooks:write'))}
      onClick={() => void navigate('/webhooks?new')}
    >
      <Trans>Create webhook</Trans>
    </Button>
  )
}

export const Webhooks = () => {
  useTitle(t`Webhooks`)
  return (
    <Page wide>
      <PageHeader
        title={t`Webhooks`}
        description={t`Receive events from other services. Each event is verified, kept for 30 days and optionally forwarded.`}
        actions={<CreateWebhook />}
      />
      <QuotaNotice name="eventsKept" />
      <QuotaNotice name="webhooks" />
      <Tabs
        label={t`Webhooks`}
        tabs={[
          { to: '/webhooks', label: t`Webhooks`, end: true },
          { to: '/webhooks/events', label: t`Events` },
        ]}
      />
      <Outlet />
    </Page>
  )
}
