import { t } from '@lingui/core/macro'
import { NavLink } from 'react-router'
import { textOf } from '../../../i18n/text.ts'
import styles from '../files.module.css'
import { FolderTree } from './folder-tree.tsx'
import type { TreeProps } from './folder-tree.tsx'
import { NetworkDrive } from './network-drive.tsx'
import { viewLinks } from '../views/views.ts'

/** The folders of the org, the other views of its files and its address as a network drive, on wide screens. */
export const FolderPane = (tree: Omit<TreeProps, 'label' | 'excluded'>) => (
  <aside className={styles['tree']} aria-label={t`Folders`}>
    <FolderTree label={t`Folders`} {...tree} />
    <nav aria-label={t`Views`} className={styles['viewLinks']}>
      {viewLinks.map(({ to, label, icon: Icon }) => (
        <NavLink key={to} to={to} className={styles['trash'] ?? ''}>
          <Icon aria-hidden="true" />
          {textOf(label)}
        </NavLink>
      ))}
    </nav>
    <NetworkDrive />
  </aside>
)
