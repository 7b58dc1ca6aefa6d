import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { useNavigate } from 'react-router'
import { readAll } from '../api.ts'
import { setScope } from '../scope.ts'
import { useIdentity } from '../session.tsx'
import { Avatar } from '../ui/data/avatar.tsx'
import { Menu } from '../ui/forms/menu.tsx'
import type { MenuEntries } from '../ui/forms/menu.tsx'
import styles from './layout.module.css'

/** Shows the current org and workspace and switches to others. */
export const OrgSwitch = () => {
  const { t } = useLingui()
  const { session, me } = useIdentity()
  const navigate = useNavigate()
  const workspaces = useQuery(readAll('GET /workspaces'))
  const go = (orgId: string, workspaceId: string | undefined): void => {
    setScope({ orgId, workspaceId })
    // The open page belongs to the previous org.
    if (orgId !== me.org.id) void navigate('/')
  }
  const entries: MenuEntries = (workspaces.data ?? []).map(({ id, name }) => ({
    label: name,
    checked: id === me.workspace?.id,
    onSelect: () => go(me.org.id, id),
  }))
  const others = session.orgs.filter(({ id }) => id !== me.org.id)
  if (others.length > 0) entries.push('separator')
  for (const org of others) {
    entries.push({
      label: org.name,
      icon: <Avatar name={org.name} logoUrl={org.logoUrl} size="s" square />,
      onSelect: () => go(org.id, undefined),
    })
  }
  entries.push('separator', { label: t`Manage workspaces`, to: '/settings/workspaces' })
  const workspace = me.workspace?.name ?? t`No workspace`
  return (
    <Menu
      align="start"
      header={t`Workspaces of ${me.org.name}`}
      entries={entries}
      trigger={
        <button type="button" className={styles['org']} aria-label={t`${me.org.name}, ${workspace}: switch`}>
          <Avatar name={me.org.name} logoUrl={me.org.logoUrl} square />
          <span className={styles['orgText']}>
            <span className={styles['orgName']}>{me.org.name}</span>
            {/* The space keeps the visible text equal to the start of the accessible name (WCAG 2.5.3). */ ' '}
            <span className={styles['orgSpace']}>{workspace}</span>
          </span>
          <ChevronsUpDown aria-hidden="true" />
        </button>
      }
    />
  )
}
