import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { File as FileRecord } from '@atrium/client'
import { FolderOpen } from 'lucide-react'
import { memo } from 'react'
import { Link } from 'react-router'
import { formatBytes } from '../../../format.ts'
import { PersonName } from '../../../person-name.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { VirtualList } from '../../../ui/data/virtual-list.tsx'
import { tooltip } from '../../../ui/tooltip.tsx'
import { useDropTarget } from '../drop-target.ts'
import { RestrictedIcon } from '../file-kind.tsx'
import { folderPath } from '../sorting.ts'
import type { Sorting } from '../sorting.ts'
import { typeName } from '../type-name.ts'
import { StarButton } from '../views/star-button.tsx'
import { Thumbnail } from '../views/thumbnail.tsx'
import styles from './file-list.module.css'
import { ItemCheckbox, ItemElement, ItemMenuButton, useFileItems } from './items.tsx'
import type { FileItemsProps, ItemProps } from './items.tsx'
import { ListHeader } from './list-header.tsx'

const isTouched = matchMedia('(pointer: coarse)').matches

/** Rows with a line below the name are higher, and so are those that fingers touch. */
const heightOf = (hasFacts: boolean): number => {
  if (isTouched) return 52
  return hasFacts || matchMedia('(width < 760px)').matches ? 48 : 40
}
const headerHeight = 34

/** The folder of a search result; on a phone also the size and the time, which have no columns there. */
const Facts = ({ file, sorting }: { file: FileRecord; sorting: Sorting }) => (
  <span className={styles['facts']}>
    {file.path && (
      <Link to={folderPath(file.parentId, sorting)} tabIndex={-1} draggable={false} className={styles['path']}>
        <FolderOpen aria-hidden="true" />
        <span className="visually-hidden">
          <Trans>Location:</Trans>{' '}
        </span>
        <span className={styles['pathText']}>{file.path.length === 0 ? t`All files` : file.path.join(' / ')}</span>
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

const Row = memo(({ sorting, ...item }: ItemProps & { sorting: Sorting }) => {
  const { file } = item
  const drop = useDropTarget(file.id)
  const isFolder = file.source === 'folder'
  return (
    <ItemElement
      {...(isFolder && drop.props)}
      item={item}
      role="row"
      aria-rowindex={item.index + 2}
      className={classNames(styles['row'], isFolder && drop.className)}
    >
      <span role="gridcell" className={styles['check']}>
        <ItemCheckbox item={item} />
      </span>
      <span role="gridcell" className={styles['name']}>
        <Thumbnail file={file} />
        <span className={styles['words']}>
          <Link to={item.href} tabIndex={-1} draggable={false} className={styles['link']} title={file.name}>
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
        <ItemMenuButton item={item} />
      </span>
    </ItemElement>
  )
})

const Blank = ({ index }: { index: number }) => (
  <div role="row" aria-rowindex={index + 2} className={styles['row']} aria-busy="true">
    <span role="gridcell" className={styles['blank']} data-width={index % 4}>
      <span className="visually-hidden">{t`Loading`}</span>
    </span>
  </div>
)

const pageRows = 12

const stepOf = (key: string, total: number): number | undefined =>
  ({ ArrowDown: 1, ArrowUp: -1, PageDown: pageRows, PageUp: -pageRows, Home: -total, End: total })[key]

export const FileList = (props: FileItemsProps) => {
  const { rows, total, selection, sorting, onSort } = props
  const { list, itemAt } = useFileItems(props, (key) => stepOf(key, total))
  return (
    <VirtualList
      {...list}
      count={total}
      rowCount={total + 1}
      header={{ height: headerHeight, element: <ListHeader sorting={sorting} onSort={onSort} /> }}
      rowHeight={heightOf(itemAt(0)?.file.path !== undefined)}
      onRange={rows.onRange}
      activeIndex={selection.active}
      renderRow={(index) => {
        const item = itemAt(index)
        return item ? <Row {...item} sorting={sorting} /> : <Blank index={index} />
      }}
    />
  )
}
