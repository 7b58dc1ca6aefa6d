import { Outlet } from 'react-router'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import { useIdentity } from '../../session.tsx'

export const Events = () => {
  useTitle('Events')
  const { can } = useIdentity()
  return (
    <Page wide>
      <PageHeader title="Events" description="Changes in this organization, as they happen." />
      <Tabs
        label="Events"
        tabs={[
          { to: '/events', label: 'Log', end: true },
          ...(can('webhooks:read') ? [{ to: '/events/endpoints', label: 'Endpoints' }] : []),
          { to: '/events/types', label: 'Event types' },
        ]}
      />
      <Outlet />
    </Page>
  )
}
