import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { File as FileRecord } from '@atrium/client'
import { ChevronRight, Ellipsis, FolderPlus, LayoutGrid, List, Search, X } from 'lucide-react'
import { Link } from 'react-router'
import { formatNumber } from '../../format.ts'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { useSearchText } from '../../search-params.ts'
import { classNames } from '../../ui/class-names.ts'
import { Menu } from '../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { countOf } from './changes.ts'
import { RestrictedIcon } from './file-kind.tsx'
import { useDropTarget } from './drop-target.ts'
import { FilterMenu } from './filter-menu.tsx'
import type { Filter } from './filtering.ts'
import styles from './files.module.css'
import { setFileLayout, useFileLayout } from './grid/layout-choice.ts'
import { folderPath } from './sorting.ts'
import type { Sorting } from './sorting.ts'
import { UploadButton } from './upload-button.tsx'
import { ViewMenu } from './views/view-menu.tsx'
import type { View } from './views/views.ts'

const Crumb = ({
  id,
  name,
  isRestricted = false,
  isLast,
  sorting,
}: {
  id: string | null
  name: string
  isRestricted?: boolean
  isLast: boolean
  sorting: Sorting
}) => {
  const drop = useDropTarget(id)
  return (
    <li className={styles['crumb']}>
      {isRestricted && <RestrictedIcon />}
      {isLast ? (
        <h1 aria-current="page">{name}</h1>
      ) : (
        <>
          <Link {...drop.props} to={folderPath(id, sorting)} className={classNames(drop.over && styles['crumbOver'])}>
            {name}
          </Link>
          <ChevronRight aria-hidden="true" />
        </>
      )}
    </li>
  )
}

const ViewCrumb = ({ view }: { view: Exclude<View, 'folder'> }) => (
  <li className={styles['crumb']}>
    <h1 aria-current="page">{view === 'recent' ? t`Recent` : t`Favorites`}</h1>
  </li>
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

const SearchField = ({ search, onSearch }: { search: string; onSearch: (text: string) => void }) => {
  const [text, setText] = useSearchText(search, onSearch)
  return (
    <div className={styles['search']} role="search">
      <Search aria-hidden="true" />
      <input
        type="search"
        aria-label={t`Search by name`}
        placeholder={t`Search by name`}
        maxLength={255}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </div>
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
    <nav aria-label={t`Path`} className={styles['path']}>
      <ol>
        <Crumb id={null} name={t`Files`} isLast={view === 'folder' && path.length === 0} sorting={sorting} />
        {view !== 'folder' && <ViewCrumb view={view} />}
        {path.map(({ id, name, restricted }, index) => (
          <Crumb
            key={id}
            id={id}
            name={name}
            isRestricted={restricted === true}
            isLast={index === path.length - 1}
            sorting={sorting}
          />
        ))}
      </ol>
      {total !== undefined && <span className={styles['total']}>{formatNumber(total)}</span>}
    </nav>
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
      view !== 'recent' && <SearchField search={search} onSearch={onSearch} />
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
