import { Outlet } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'

const tabs = [
  { to: '/settings/profile', label: 'Profile' },
  { to: '/settings/organization', label: 'Organization' },
  { to: '/settings/members', label: 'Members' },
  { to: '/settings/workspaces', label: 'Workspaces' },
  { to: '/settings/projects', label: 'Projects' },
  { to: '/settings/api-keys', label: 'API keys' },
  { to: '/settings/authorized-apps', label: 'Authorized apps' },
  { to: '/settings/audit-log', label: 'Audit log' },
]

export const Settings = () => {
  const { me } = useIdentity()
  return (
    <Page wide>
      <PageHeader title="Settings" description={`Your profile and the settings of ${me.org.name}.`} />
      <Tabs label="Settings" tabs={tabs} />
      <Outlet />
    </Page>
  )
}
