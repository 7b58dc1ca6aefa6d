import { Outlet } from 'react-router'
import { Page, PageHeader } from '../../ui/bits.tsx'

export const Settings = () => (
  <Page wide>
    <PageHeader title="Settings" />
    <Outlet />
  </Page>
)
