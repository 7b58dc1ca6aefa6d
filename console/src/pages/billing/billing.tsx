import { Outlet } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'

/** Why the person cannot manage billing; false when they can. */
export const useManageReason = (): string | false => {
  const { can } = useIdentity()
  return !can('billing:manage') && 'Only owners, admins and billing managers can do this.'
}

export const Billing = () => {
  useTitle('Billing')
  const { me } = useIdentity()
  return (
    <Page wide>
      <PageHeader title="Billing" description={`Balance and spending of ${me.org.name}.`} />
      <Tabs
        label="Billing"
        tabs={[
          { to: '/billing', label: 'Overview', end: true },
          { to: '/billing/spending', label: 'Spending' },
          { to: '/billing/transactions', label: 'Transactions' },
          { to: '/billing/usage', label: 'Usage and quotas' },
          { to: '/billing/plans', label: 'Plans and prices' },
        ]}
      />
      <Outlet />
    </Page>
  )
}
