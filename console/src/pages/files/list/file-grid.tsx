import { t } from '@lingui/core/macro'
import { memo, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { formatBytes } from '../../../format.ts'
import { classNames } from '../../../ui/class-names.ts'
import { VirtualList } from '../../../ui/data/virtual-list.tsx'
import { useDropTarget } from '../drop-target.ts'
import { RestrictedIcon } from '../file-kind.tsx'
import { StarButton } from '../views/star-button.tsx'
import { Thumbnail } from '../views/thumbnail.tsx'
import styles from './file-grid.module.css'
import { ItemCheckbox, ItemElement, ItemMenuButton, useFileItems } from './items.tsx'
import type { FileItemsProps, ItemProps } from './items.tsx'
import { SortMenu } from './list-header.tsx'

/** Pixels. A tile is at least this wide, and two are next to each other on every phone. */
const minTileWidth = 172
const rowHeight = 196
const headerHeight = 34

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

const Tile = memo((item: ItemProps) => {
  const { file, href } = item
  const drop = useDropTarget(file.id)
  const isFolder = file.source === 'folder'
  return (
    <ItemElement
      {...(isFolder && drop.props)}
      item={item}
      role="gridcell"
      className={classNames(styles['tile'], isFolder && drop.className)}
    >
      <ItemCheckbox item={item} className={styles['check']} />
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
        <ItemMenuButton item={item} />
      </span>
    </ItemElement>
  )
})

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
export const FileGrid = (props: FileItemsProps) => {
  const { rows, total, selection, sorting, onSort } = props
  const { box, columns } = useColumns()
  const { list, itemAt } = useFileItems(props, (key) => stepOf(key, columns, total))
  const tileAt = (index: number) => {
    const item = itemAt(index)
    return item ? (
      <Tile key={item.file.id} {...item} />
    ) : (
      <div key={index} role="gridcell" aria-busy="true" className={styles['tile']}>
        <span className="visually-hidden">{t`Loading`}</span>
      </div>
    )
  }
  const lines = Math.ceil(total / columns)
  return (
    <div ref={box} className={styles['box']}>
      <VirtualList
        {...list}
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
        activeIndex={Math.floor(selection.active / columns)}
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
