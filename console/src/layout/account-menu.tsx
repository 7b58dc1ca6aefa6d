import { Trans, useLingui } from '@lingui/react/macro'
import { BookOpen, Keyboard, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { signOut } from '../session.tsx'
import { setTheme, useTheme } from '../theme.ts'
import { Avatar } from '../ui/data/avatar.tsx'
import { Menu } from '../ui/forms/menu.tsx'
import { toast } from '../ui/toast.tsx'
import styles from './layout.module.css'

export const AccountMenu = ({ name, email, onShortcuts }: { name: string; email: string; onShortcuts: () => void }) => {
  const { t } = useLingui()
  const theme = useTheme()
  return (
    <Menu
      align="start"
      side="top"
      header={email}
      entries={[
        { label: t`Profile`, icon: <UserRound />, to: '/settings/profile' },
        {
          label: t`API reference`,
          icon: <BookOpen />,
          onSelect: () => void window.open('/docs', '_blank', 'noopener'),
        },
        { label: t`Keyboard shortcuts`, icon: <Keyboard />, shortcut: '?', onSelect: onShortcuts },
        'separator',
        { label: t`Light`, icon: <Sun />, checked: theme === 'light', onSelect: () => setTheme('light') },
        { label: t`Dark`, icon: <Moon />, checked: theme === 'dark', onSelect: () => setTheme('dark') },
        { label: t`System`, icon: <Monitor />, checked: theme === 'system', onSelect: () => setTheme('system') },
        'separator',
        {
          label: t`Sign out`,
          icon: <LogOut />,
          onSelect: () => void signOut().catch((error: unknown) => toast.failed(t`Could not sign out`, error)),
        },
      ]}
      trigger={
        <button type="button" className={styles['account']}>
          <Avatar name={name} />
          <span className="visually-hidden">
            <Trans>Account of</Trans>
          </span>
          <span className={styles['orgText']}>
            <span className={styles['orgName']}>{name}</span>
            <span className={styles['orgSpace']}>{email}</span>
          </span>
        </button>
      }
    />
  )
}
