import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Trash2 } from 'lucide-react'
import { Link } from 'react-router'
import styles from '../files.module.css'
import { FolderTree } from './folder-tree.tsx'
import type { TreeProps } from './folder-tree.tsx'
import { NetworkDrive } from './network-drive.tsx'

export const trashPath = '/files/trash'

/** The folders of the org, its trash and its address as a network drive, on wide screens. Without a current folder, the trash is shown. */
export const FolderPane = (tree: Omit<TreeProps, 'label' | 'excluded'>) => (
  <aside className={styles['tree']} aria-label={t`Folders`}>
    <FolderTree label={t`Folders`} {...tree} />
    <Link to={trashPath} className={styles['trash']} aria-current={tree.current === undefined ? 'page' : undefined}>
      <Trash2 aria-hidden="true" />
      <Trans>Trash</Trans>
    </Link>
    <NetworkDrive />
  </aside>
)
