import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { File as FileRecord } from '@atrium/client'
import { Ellipsis, FolderOpen } from 'lucide-react'
import { memo } from 'react'
import type { KeyboardEvent, MouseEvent, ReactNode } from 'react'
import { Link } from 'react-router'
import { formatBytes } from '../../format.ts'
import { PersonName } from '../../person-name.tsx'
import { useStableCallback, useConstant } from '../../stable-values.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { classNames } from '../../ui/class-names.ts'
import { useCoveredBottom } from '../../ui/covered-bottom.ts'
import type { MenuAnchor } from '../../ui/forms/menu.tsx'
import { VirtualList } from '../../ui/data/virtual-list.tsx'
import { tooltip } from '../../ui/tooltip.tsx'
import { useDropTarget } from './drop-target.ts'
import { writeDraggedRows } from './drag-data.ts'
import styles from './file-list.module.css'
import { RestrictedIcon } from './file-kind.tsx'
import { ListHeader } from './list-header.tsx'
import type { FileRows } from './rows.ts'
import type { Selection } from './selection.ts'
import { folderPath } from './sorting.ts'
import type { Sorting } from './sorting.ts'
import { typeName } from './type-name.ts'
import { StarButton } from './views/star-button.tsx'
import { Thumbnail } from './views/thumbnail.tsx'

export const rowHeight = matchMedia('(pointer: coarse)').matches ? 52 : 40
const headerHeight = 34
const rowId = (index: number): string => `file-row-${index}`

interface RowProps {
  index: number
  file: FileRecord
  isSelected: boolean
  isActive: boolean
  href: string
  sorting: Sorting
  on: RowEvents
}

/** Stable for all rows, so that a memoized row renders only when it changes. */
interface RowEvents {
  press: (index: number, file: FileRecord, event: MouseEvent) => void
  check: (index: number, file: FileRecord) => void
  menu: (index: number, file: FileRecord, anchor: MenuAnchor) => void
  drag: (file: FileRecord, data: DataTransfer) => void
}

const FolderDrop = ({
  folderId,
  children,
}: {
  folderId: string
  children: (over: boolean, props: object) => ReactNode
}) => {
  const drop = useDropTarget(folderId)
  return children(drop.over, drop.props)
}

/** The folder of a search result; on a phone also the size and the time, which have no columns there. */
const Facts = ({ file, sorting }: { file: FileRecord; sorting: Sorting }) => (
  <span className={styles['facts']}>
    {file.path && (
      <Link to={folderPath(file.parentId, sorting)} tabIndex={-1} draggable={false} className={styles['path']}>
        <FolderOpen aria-hidden="true" />
        <span className="visually-hidden">
          <Trans>Location:</Trans>{' '}
        </span>
        {file.path.length === 0 ? t`All files` : file.path.join(' / ')}
      </Link>
    )}
    <span className={styles['narrow']}>
      {file.source === 'upload' && `${formatBytes(file.size)} · `}
      <RelativeTime at={file.recentAt ?? file.updatedAt} />
    </span>
  </span>
)

const shownTags = 2

const Tags = ({ tags }: { tags: string[] }) => {
  const rest = tags.slice(shownTags)
  return (
    <span className={styles['tags']} {...tooltip(tags.join(', '))}>
      {tags.slice(0, shownTags).map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
      {rest.length > 0 && (
        <Badge>
          <span aria-hidden="true">+{rest.length}</span>
          <span className="visually-hidden">{rest.join(', ')}</span>
        </Badge>
      )}
    </span>
  )
}

const RowContent = ({
  index,
  file,
  isSelected,
  isActive,
  href,
  sorting,
  on,
  over,
  drop,
}: RowProps & { over: boolean; drop: object }) => (
  <div
    {...drop}
    id={rowId(index)}
    role="row"
    aria-rowindex={index + 2}
    aria-selected={isSelected}
    className={classNames(
      styles['row'],
      isSelected && styles['selected'],
      isActive && styles['active'],
      over && styles['over'],
    )}
    draggable
    onDragStart={({ dataTransfer }) => on.drag(file, dataTransfer)}
    onClick={(event) => on.press(index, file, event)}
    onContextMenu={(event) => {
      event.preventDefault()
      on.menu(index, file, { x: event.clientX, y: event.clientY })
    }}
  >
    <span role="gridcell" className={styles['check']}>
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={t`Select ${file.name}`}
        checked={isSelected}
        onClick={(event) => event.stopPropagation()}
        onChange={() => on.check(index, file)}
      />
    </span>
    <span role="gridcell" className={styles['name']}>
      <Thumbnail file={file} />
      <span className={styles['words']}>
        <Link to={href} tabIndex={-1} draggable={false} className={styles['link']} title={file.name}>
          {file.name}
        </Link>
        <Facts file={file} sorting={sorting} />
      </span>
      <StarButton file={file} className={styles['star']} />
      {file.restricted === true && <RestrictedIcon />}
      {file.status === 'pending' && (
        <Badge tone="warn">
          <Trans>Upload pending</Trans>
        </Badge>
      )}
      {file.tags.length > 0 && <Tags tags={file.tags} />}
    </span>
    <span role="gridcell" className={styles['owner']}>
      <PersonName userId={file.createdBy} />
    </span>
    <span role="gridcell" className={styles['type']} title={file.mimeType ?? undefined}>
      {typeName(file)}
    </span>
    <span role="gridcell" className={styles['size']}>
      {file.source === 'upload' ? formatBytes(file.size) : '–'}
    </span>
    <span role="gridcell" className={styles['time']}>
      <RelativeTime at={file.recentAt ?? file.updatedAt} />
    </span>
    <span role="gridcell" className={styles['more']}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={t`Actions for ${file.name}`}
        onClick={(event) => {
          event.stopPropagation()
          on.menu(index, file, event.currentTarget)
        }}
      >
        <Ellipsis aria-hidden="true" />
      </button>
    </span>
  </div>
)

const Row = memo((props: RowProps) =>
  props.file.source === 'folder' ? (
    <FolderDrop folderId={props.file.id}>
      {(over, drop) => <RowContent {...props} over={over} drop={drop} />}
    </FolderDrop>
  ) : (
    <RowContent {...props} over={false} drop={{}} />
  ),
)

const Blank = ({ index }: { index: number }) => (
  <div role="row" aria-rowindex={index + 2} className={styles['row']} aria-busy="true">
    <span role="gridcell" className={styles['blank']} data-width={index % 4}>
      <span className="visually-hidden">{t`Loading`}</span>
    </span>
  </div>
)

export interface FileListProps {
  label: string
  rows: FileRows
  total: number
  selection: Selection
  hrefOf: (file: FileRecord) => string
  onOpen: (file: FileRecord) => void
  onMenu: (file: FileRecord, anchor: MenuAnchor) => void
  /** Keyboard shortcuts for actions on the selection. */
  onKey: (event: KeyboardEvent) => void
  onSelectAll: () => void
  sorting: Sorting
  onSort: ((sorting: Sorting) => void) | undefined
}

const pageRows = 12

const stepOf = (key: string, total: number): number | undefined =>
  ({ ArrowDown: 1, ArrowUp: -1, PageDown: pageRows, PageUp: -pageRows, Home: -total, End: total })[key]

export const FileList = ({
  label,
  rows,
  total,
  selection,
  hrefOf,
  onOpen,
  onMenu,
  onKey,
  onSelectAll,
  sorting,
  onSort,
}: FileListProps) => {
  const { active, files: selected } = selection
  const coveredBottom = useCoveredBottom()
  const press = useStableCallback((index: number, file: FileRecord, event: MouseEvent) => {
    // The name is a link, which handles its own clicks.
    if (event.target instanceof Element && event.target.closest('a')) return
    if (event.shiftKey) selection.extendTo(index)
    else if (event.metaKey || event.ctrlKey) selection.toggle(index, file)
    else selection.only(index, file)
  })
  const check = useStableCallback((index: number, file: FileRecord) => selection.toggle(index, file))
  const menu = useStableCallback((index: number, file: FileRecord, anchor: MenuAnchor) => {
    if (!selected.has(file.id)) selection.only(index, file)
    onMenu(file, anchor)
  })
  const drag = useStableCallback((file: FileRecord, data: DataTransfer) =>
    writeDraggedRows(data, selected.has(file.id) ? [...selected.values()] : [file]),
  )

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = stepOf(event.key, total)
    const file = rows.rowAt(active)
    if (step !== undefined && total > 0) {
      const next = Math.max(0, Math.min(total - 1, active + step))
      if (event.shiftKey) selection.extendTo(next)
      else {
        selection.setActive(next)
        const there = rows.rowAt(next)
        if (there) selection.only(next, there)
      }
    } else if (event.key === 'Enter' && file) onOpen(file)
    else if (event.key === ' ' && file) selection.toggle(active, file)
    else if (event.key === 'Escape') selection.clear()
    else if (event.key.toLowerCase() === 'a' && (event.metaKey || event.ctrlKey)) onSelectAll()
    else if (file && (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))) {
      const row = document.querySelector(`#${rowId(active)}`)
      if (row) menu(active, file, row)
    } else {
      onKey(event)
      return
    }
    event.preventDefault()
  }

  const on = useConstant({ press, check, menu, drag })
  return (
    <VirtualList
      role="grid"
      label={label}
      multiselectable
      count={total}
      rowCount={total + 1}
      header={{ height: headerHeight, element: <ListHeader sorting={sorting} onSort={onSort} /> }}
      rowHeight={rowHeight}
      onRange={rows.onRange}
      coveredBottom={coveredBottom}
      activeIndex={active}
      activeId={rows.rowAt(active) ? rowId(active) : undefined}
      onKeyDown={onKeyDown}
      className={styles['list']}
      renderRow={(index) => {
        const file = rows.rowAt(index)
        if (!file) return <Blank index={index} />
        return (
          <Row
            index={index}
            file={file}
            isSelected={selected.has(file.id)}
            isActive={index === active}
            href={hrefOf(file)}
            sorting={sorting}
            on={on}
          />
        )
      }}
    />
  )
}
