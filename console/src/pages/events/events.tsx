import { t } from '@lingui/core/macro'
import { Outlet } from 'react-router'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import { useIdentity } from '../../session.tsx'

export const Events = () => {
  useTitle(t`Events`)
  const { can } = useIdentity()
  return (
    <Page wide>
      <PageHeader title={t`Events`} description={t`Changes in this organization, as they happen.`} />
      <Tabs
        label={t`Events`}
        tabs={[
          { to: '/events', label: t`Log`, end: true },
          ...(can('webhooks:read') ? [{ to: '/events/endpoints', label: t`Endpoints` }] : []),
          { to: '/events/types', label: t`Event types` },
        ]}
      />
      <Outlet />
    </Page>
  )
}
