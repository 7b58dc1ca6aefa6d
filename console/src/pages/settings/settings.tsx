import { msg, t } from '@lingui/core/macro'
import { Outlet } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'

const tabs = [
  { to: '/settings/profile', label: msg`Profile` },
  { to: '/settings/organization', label: msg`Organization` },
  { to: '/settings/members', label: msg`Members` },
  { to: '/settings/workspaces', label: msg`Workspaces` },
  { to: '/settings/projects', label: msg`Projects` },
  { to: '/settings/files', label: msg`Files` },
  { to: '/settings/api-keys', label: msg`API keys` },
  { to: '/settings/authorized-apps', label: msg`Authorized apps` },
  { to: '/settings/audit-log', label: msg`Audit log` },
]

export const Settings = () => {
  const { me } = useIdentity()
  return (
    <Page wide>
      <PageHeader title={t`Settings`} description={t`Your profile and the settings of ${me.org.name}.`} />
      <Tabs label={t`Settings`} tabs={tabs} />
      <Outlet />
    </Page>
  )
}
