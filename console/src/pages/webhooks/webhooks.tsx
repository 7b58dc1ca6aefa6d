import { Plus } from 'lucide-react'
import { Outlet, useNavigate } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import { QuotaNotice } from '../billing/quota-notice.tsx'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && 'Your role may look at webhooks, not change them.'

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
      New webhook
    </Button>
  )
}

export const Webhooks = () => {
  useTitle('Webhooks')
  return (
    <Page wide>
      <PageHeader
        title="Webhooks"
        description="Other services report here what happens. Each event is checked, kept for 30 days, and forwarded if you like."
        actions={<CreateWebhook />}
      />
      <QuotaNotice name="eventsKept" />
      <QuotaNotice name="webhooks" />
      <Tabs
        label="Parts of webhooks"
        tabs={[
          { to: '/webhooks', label: 'Webhooks', end: true },
          { to: '/webhooks/events', label: 'Events' },
        ]}
      />
      <Outlet />
    </Page>
  )
}
