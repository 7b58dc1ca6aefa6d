import { t } from '@lingui/core/macro'
import { HardDrive, PanelLeft } from 'lucide-react'
import { useLocation } from 'react-router'
import { textOf } from '../../../i18n/text.ts'
import { IconButton } from '../../../ui/forms/button.tsx'
import { Menu } from '../../../ui/forms/menu.tsx'
import styles from '../files.module.css'
import { viewLinks } from './views.ts'

/** The pages beside the folders, where the pane with the folders is hidden. */
export const ViewMenu = () => {
  const { pathname } = useLocation()
  const isView = viewLinks.some(({ to }) => to === pathname)
  return (
    <span className={styles['views']}>
      <Menu
        trigger={<IconButton label={t`Views`} icon={<PanelLeft />} />}
        entries={[
          { label: t`All files`, icon: <HardDrive />, to: '/files', checked: !isView },
          ...viewLinks.map(({ to, label, icon: Icon }) => ({
            label: textOf(label),
            icon: <Icon />,
            to,
            checked: to === pathname,
          })),
        ]}
      />
    </span>
  )
}
