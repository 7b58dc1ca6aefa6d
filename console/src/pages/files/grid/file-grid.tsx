import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { Ellipsis } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { KeyboardEvent, MouseEvent } from 'react'
import { Link } from 'react-router'
import { formatBytes } from '../../../format.ts'
import { classNames } from '../../../ui/class-names.ts'
import { useCoveredBottom } from '../../../ui/covered-bottom.ts'
import type { MenuAnchor } from '../../../ui/forms/menu.tsx'
import { VirtualList } from '../../../ui/data/virtual-list.tsx'
import { writeDraggedRows } from '../drag-data.ts'
import { useDropTarget } from '../drop-target.ts'
import { RestrictedIcon } from '../file-kind.tsx'
import type { FileListProps } from '../file-list.tsx'
import { SortMenu } from '../list-header.tsx'
import { StarButton } from '../views/star-button.tsx'
import { Thumbnail } from '../views/thumbnail.tsx'
import styles from './file-grid.module.css'

/** Pixels. A tile is at least this wide, and two are next to each other on every phone. */
const minTileWidth = 172
const rowHeight = 196
const headerHeight = 34
const tileId = (index: number): string => `file-tile-${index}`

const useColumns = () => {
  const box = useRef<HTMLDivElement>(null)
  const [columns, setColumns] = useState(4)
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() =>
      setColumns(Math.max(2, Math.floor((element.clientWidth - 24) / minTileWidth))),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { box, columns }
}

interface TileProps {
  index: number
  file: FileRecord
  isSelected: boolean
  isActive: boolean
  href: string
  onPress: (event: MouseEvent) => void
  onCheck: () => void
  onMenu: (anchor: MenuAnchor) => void
  onDrag: (data: DataTransfer) => void
}

const Tile = ({ index, file, isSelected, isActive, href, onPress, onCheck, onMenu, onDrag }: TileProps) => {
  const drop = useDropTarget(file.id)
  const isFolder = file.source === 'folder'
  return (
    <div
      {...(isFolder && drop.props)}
      id={tileId(index)}
      role="gridcell"
      aria-selected={isSelected}
      className={classNames(
        styles['tile'],
        isSelected && styles['selected'],
        isActive && styles['active'],
        isFolder && drop.over && styles['over'],
      )}
      draggable
      onDragStart={({ dataTransfer }) => onDrag(dataTransfer)}
      onClick={onPress}
      onContextMenu={(event) => {
        event.preventDefault()
        onMenu({ x: event.clientX, y: event.clientY })
      }}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        className={styles['check']}
        aria-label={t`Select ${file.name}`}
        checked={isSelected}
        onClick={(event) => event.stopPropagation()}
        onChange={onCheck}
      />
      <Link to={href} tabIndex={-1} draggable={false} aria-hidden="true" className={styles['picture']}>
        <Thumbnail file={file} isLarge />
      </Link>
      <span className={styles['caption']}>
        <span className={styles['words']}>
          <Link to={href} tabIndex={-1} draggable={false} className={styles['link']} title={file.name}>
            {file.name}
          </Link>
          <small>{isFolder ? t`Folder` : formatBytes(file.size)}</small>
        </span>
        {file.restricted === true && <RestrictedIcon />}
        <StarButton file={file} className={styles['star']} />
        <button
          type="button"
          tabIndex={-1}
          className={styles['more']}
          aria-label={t`Actions for ${file.name}`}
          onClick={(event) => {
            event.stopPropagation()
            onMenu(event.currentTarget)
          }}
        >
          <Ellipsis aria-hidden="true" />
        </button>
      </span>
    </div>
  )
}

const stepOf = (key: string, columns: number, total: number): number | undefined =>
  ({
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: 3 * columns,
    PageUp: -3 * columns,
    Home: -total,
    End: total,
  })[key]

/** The files of a list as tiles with large pictures. The same keys as in the list, and the arrows to the sides. */
export const FileGrid = ({
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
  const { box, columns } = useColumns()
  const coveredBottom = useCoveredBottom()
  const openMenu = (index: number, file: FileRecord, anchor: MenuAnchor): void => {
    if (!selected.has(file.id)) selection.only(index, file)
    onMenu(file, anchor)
  }
  const press = (index: number, file: FileRecord, event: MouseEvent): void => {
    // The name and the picture are links, which handle their own clicks.
    if (event.target instanceof Element && event.target.closest('a')) return
    if (event.shiftKey) selection.extendTo(index)
    else if (event.metaKey || event.ctrlKey) selection.toggle(index, file)
    else selection.only(index, file)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = stepOf(event.key, columns, total)
    const file = rows.rowAt(active)
    if (step !== undefined) {
      const next = Math.max(0, Math.min(total - 1, active + step))
      const there = rows.rowAt(next)
      if (event.shiftKey) selection.extendTo(next)
      else if (there) selection.only(next, there)
      else selection.setActive(next)
    } else if (event.key === 'Enter' && file) onOpen(file)
    else if (event.key === ' ' && file) selection.toggle(active, file)
    else if (event.key === 'Escape') selection.clear()
    else if (event.key.toLowerCase() === 'a' && (event.metaKey || event.ctrlKey)) onSelectAll()
    else if (file && (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))) {
      const tile = document.querySelector(`#${tileId(active)}`)
      if (tile) openMenu(active, file, tile)
    } else {
      onKey(event)
      return
    }
    event.preventDefault()
  }
  const tileAt = (index: number) => {
    const file = rows.rowAt(index)
    if (!file)
      return (
        <div key={index} role="gridcell" aria-busy="true" className={styles['tile']}>
          <span className="visually-hidden">{t`Loading`}</span>
        </div>
      )
    return (
      <Tile
        key={file.id}
        index={index}
        file={file}
        isSelected={selected.has(file.id)}
        isActive={index === active}
        href={hrefOf(file)}
        onPress={(event) => press(index, file, event)}
        onCheck={() => selection.toggle(index, file)}
        onMenu={(anchor) => openMenu(index, file, anchor)}
        onDrag={(data) => writeDraggedRows(data, selected.has(file.id) ? [...selected.values()] : [file])}
      />
    )
  }
  const lines = Math.ceil(total / columns)
  return (
    <div ref={box} className={styles['box']}>
      <VirtualList
        role="grid"
        label={label}
        multiselectable
        count={lines}
        rowCount={lines + 1}
        header={
          onSort && {
            height: headerHeight,
            element: (
              <div
                role="row"
                aria-rowindex={1}
                className={styles['header']}
                onKeyDown={(event) => event.stopPropagation()}
              >
                <span role="columnheader">
                  <SortMenu sorting={sorting} onSort={onSort} />
                </span>
              </div>
            ),
          }
        }
        rowHeight={rowHeight}
        onRange={(start, end) => rows.onRange(start * columns, end * columns)}
        coveredBottom={coveredBottom}
        activeIndex={Math.floor(active / columns)}
        activeId={rows.rowAt(active) ? tileId(active) : undefined}
        onKeyDown={onKeyDown}
        className={styles['grid']}
        renderRow={(line) => (
          <div
            role="row"
            aria-rowindex={line + 2}
            className={styles['line']}

            style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
          >
            {Array.from({ length: Math.min(columns, total - line * columns) }, (_, at) => tileAt(line * columns + at))}
          </div>
        )}
      />
    </div>
  )
}
