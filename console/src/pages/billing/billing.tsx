import { t } from '@lingui/core/macro'
import { Outlet } from 'react-router'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'

/** Why the person cannot manage billing; false when they can. */
export const useManageReason = (): string | false => {
  const { can } = useIdentity()
  return !can('billing:manage') && t`Only owners, admins and billing managers can do this.`
}

export const Billing = () => {
  useTitle(t`Billing`)
  const { me } = useIdentity()
  return (
    <Page wide>
      <PageHeader title={t`Billing`} description={t`Balance and spending of ${me.org.name}.`} />
      <Tabs
        label={t`Billing`}
        tabs={[
          { to: '/billing', label: t`Overview`, end: true },
          { to: '/billing/spending', label: t`Spending` },
          { to: '/billing/transactions', label: t`Transactions` },
          { to: '/billing/documents', label: t`Statements and receipts` },
          { to: '/billing/usage', label: t`Usage and quotas` },
          { to: '/billing/plans', label: t`Plans and prices` },
        ]}
      />
      <Outlet />
    </Page>
  )
}
