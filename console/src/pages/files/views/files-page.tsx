import { t } from '@lingui/core/macro'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import type { Crumb } from '../../../ui/navigation/crumbs.tsx'
import { Crumbs } from '../../../ui/navigation/crumbs.tsx'
import styles from '../files.module.css'
import { FolderPane } from '../folders/folder-pane.tsx'
import { defaultSorting, folderPath } from '../sorting.ts'
import { ViewMenu } from './view-menu.tsx'

/** A page about files without a list of them: the folders beside it, and its path below Files. */
export const FilesPage = ({
  path,
  actions,
  children,
}: {
  path: readonly Crumb[]
  actions?: ReactNode
  children: ReactNode
}) => {
  const navigate = useNavigate()
  return (
    <div className={styles['page']}>
      <FolderPane current={undefined} path={[]} onOpen={(id) => void navigate(folderPath(id, defaultSorting))} />
      <div className={styles['main']}>
        <header className={styles['toolBar']}>
          <Crumbs path={[{ to: folderPath(null, defaultSorting), name: t`Files` }, ...path]} />
          <ViewMenu />
          {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
        </header>
        <div className={styles['text']}>{children}</div>
      </div>
    </div>
  )
}
