import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { File as FileRecord } from '@atrium/client'
import { Ellipsis, FolderPlus, LayoutGrid, List, X } from 'lucide-react'
import { Link } from 'react-router'
import { formatNumber } from '../../format.ts'
import { Crumbs } from '../../ui/navigation/crumbs.tsx'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { countOf } from './changes.ts'
import { RestrictedIcon } from './file-kind.tsx'
import { useDropTarget } from './drop-target.ts'
import { FilterMenu } from './filter-menu.tsx'
import type { Filter } from './filtering.ts'
import styles from './files.module.css'
import { setFileLayout, useFileLayout } from './list/layout-choice.ts'
import { folderPath } from './sorting.ts'
import type { Sorting } from './sorting.ts'
import { UploadButton } from './upload-button.tsx'
import { ViewMenu } from './views/view-menu.tsx'
import type { View } from './views/views.ts'

/** The link of a folder, on which files can be dropped. */
const FolderLink = ({ id, to, name }: { id: string | null; to: string; name: string }) => {
  const drop = useDropTarget(id)
  return (
    <Link {...drop.props} to={to} className={drop.className}>
      {name}
    </Link>
  )
}

const Path = ({ view, path, sorting, total }: Pick<ToolBarProps, 'view' | 'path' | 'sorting' | 'total'>) => (
  <Crumbs
    path={[
      { id: null, name: t`Files`, to: folderPath(null, sorting) },
      ...(view === 'folder'
        ? []
        : [{ id: null, name: view === 'recent' ? t`Recent` : t`Favorites`, to: `/files/${view}` }]),
      ...path.map(({ id, name, restricted }) => ({
        id,
        name,
        to: folderPath(id, sorting),
        ...(restricted === true && { icon: <RestrictedIcon /> }),
      })),
    ]}
    link={({ id, to, name }) => <FolderLink id={id} to={to} name={name} />}
  >
    {total !== undefined && <span className={styles['total']}>{formatNumber(total)}</span>}
  </Crumbs>
)

const LayoutButton = () => {
  const isGrid = useFileLayout() === 'grid'
  return (
    <IconButton
      label={isGrid ? t`Show as list` : t`Show as grid`}
      icon={isGrid ? <List /> : <LayoutGrid />}
      onClick={() => setFileLayout(isGrid ? 'list' : 'grid')}
    />
  )
}

export interface ToolBarProps {
  view: View
  path: readonly FileRecord[]
  search: string
  onSearch: (text: string) => void
  filter: Filter
  onFilter: (filter: Filter) => void
  /** Tags of the listed files. */
  tags: readonly string[]
  total: number | undefined
  parentId: string | null
  sorting: Sorting
  writeReason: string | false
  chosen: readonly FileRecord[]
  entries: MenuEntries
  onClear: () => void
  onNewFolder: () => void
}

export const ToolBar = ({
  view,
  path,
  search,
  onSearch,
  filter,
  onFilter,
  tags,
  total,
  parentId,
  sorting,
  writeReason,
  chosen,
  entries,
  onClear,
  onNewFolder,
}: ToolBarProps) => (
  <header className={styles['toolBar']}>
    <Path view={view} path={path} sorting={sorting} total={total} />
    {chosen.length > 0 ? (
      <div className={styles['chosen']}>
        <span>{chosen.length === 1 ? countOf(chosen) : t`${formatNumber(chosen.length)} selected`}</span>
        <Menu
          trigger={
            <Button icon={<Ellipsis />}>
              <Trans>Actions</Trans>
            </Button>
          }
          entries={entries}
        />
        <IconButton label={t`Clear selection`} shortcut="Esc" icon={<X />} onClick={onClear} />
      </div>
    ) : (
      view !== 'recent' && (
        <div className={styles['search']} role="search">
          <SearchField label={t`Search by name`} maxLength={255} value={search} onSearch={onSearch} />
        </div>
      )
    )}
    <ViewMenu />
    <LayoutButton />
    {view !== 'recent' && <FilterMenu filter={filter} onFilter={onFilter} tags={tags} />}
    {view === 'folder' && (
      <>
        <IconButton
          variant="secondary"
          label={t`Create folder`}
          icon={<FolderPlus />}
          disabledReason={writeReason}
          onClick={onNewFolder}
        />
        <UploadButton parentId={parentId} reason={writeReason} />
      </>
    )}
  </header>
)
