import { Trans, useLingui } from '@lingui/react/macro'
import { Search } from 'lucide-react'
import { NavLink } from 'react-router'
import { useIdentity } from '../session.tsx'
import { classNames } from '../ui/class-names.ts'
import { KeyboardShortcut } from '../ui/keyboard-shortcut.tsx'
import { AccountMenu } from './account-menu.tsx'
import styles from './layout.module.css'
import { navigationItems, settings } from './navigation.ts'
import type { NavigationItem } from './navigation.ts'
import { OrgSwitch } from './org-switch.tsx'

const Item = ({ to, label, icon: Icon }: NavigationItem) => {
  const { t } = useLingui()
  return (
    <NavLink to={to} end={to === '/'} className={classNames(styles['item'])}>
      <Icon aria-hidden="true" />
      {t(label)}
    </NavLink>
  )
}

export const SideBar = ({
  open,
  onSearch,
  onShortcuts,
}: {
  open: boolean
  onSearch: () => void
  onShortcuts: () => void
}) => {
  const { t } = useLingui()
  const { session } = useIdentity()
  return (
    <aside className={classNames(styles['side'], open && styles['open'])} aria-label={t`Navigation`}>
      <OrgSwitch />
      <button type="button" className={styles['search']} onClick={onSearch}>
        <Search aria-hidden="true" />
        <span>
          <Trans>Search</Trans>
        </span>
        <KeyboardShortcut keys="mod+K" />
      </button>
      <nav aria-label={t({ message: `Main`, context: `navigation` })} className={styles['nav']}>
        {navigationItems.map((item) => (
          <Item key={item.to} {...item} />
        ))}
      </nav>
      <nav aria-label={t`Account`} className={styles['bottom']}>
        <Item {...settings} />
      </nav>
      <AccountMenu name={session.user.name} email={session.user.email} onShortcuts={onShortcuts} />
    </aside>
  )
}
