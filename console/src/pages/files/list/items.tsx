import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { Ellipsis } from 'lucide-react'
import type { HTMLAttributes, KeyboardEvent, MouseEvent } from 'react'
import { useConstant, useStableCallback } from '../../../stable-values.ts'
import { classNames } from '../../../ui/class-names.ts'
import { useCoveredBottom } from '../../../ui/covered-bottom.ts'
import type { MenuAnchor } from '../../../ui/forms/menu.tsx'
import { writeDraggedRows } from '../drag-data.ts'
import styles from './items.module.css'
import type { FileRows } from '../rows.ts'
import type { Selection } from '../selection.ts'
import type { Sorting } from '../sorting.ts'

/** The props of a list and of a grid of files. */
export interface FileItemsProps {
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

/** Stable for all items, so that a memoized item renders only when it changes. */
interface ItemEvents {
  press: (index: number, file: FileRecord, event: MouseEvent) => void
  check: (index: number, file: FileRecord) => void
  menu: (index: number, file: FileRecord, anchor: MenuAnchor) => void
  drag: (file: FileRecord, data: DataTransfer) => void
}

export interface ItemProps {
  id: string
  index: number
  file: FileRecord
  isSelected: boolean
  isActive: boolean
  href: string
  on: ItemEvents
}

/**
 * The items of a virtual list of files: their props, and what the pointer and the keys do. `stepOf` says how far a key
 * moves among the items.
 */
export const useFileItems = (
  { label, rows, total, selection, hrefOf, onOpen, onMenu, onKey, onSelectAll }: FileItemsProps,
  stepOf: (key: string) => number | undefined,
) => {
  const { active, files: selected } = selection
  const coveredBottom = useCoveredBottom()
  const idOf = (index: number): string => `file-${index}`
  const on: ItemEvents = useConstant({
    press: useStableCallback((index: number, file: FileRecord, event: MouseEvent) => {
      // The name and the picture are links, which handle their own clicks.
      if (event.target instanceof Element && event.target.closest('a')) return
      if (event.shiftKey) selection.extendTo(index)
      else if (event.metaKey || event.ctrlKey) selection.toggle(index, file)
      else selection.only(index, file)
    }),
    check: useStableCallback((index: number, file: FileRecord) => selection.toggle(index, file)),
    menu: useStableCallback((index: number, file: FileRecord, anchor: MenuAnchor) => {
      if (!selected.has(file.id)) selection.only(index, file)
      onMenu(file, anchor)
    }),
    drag: useStableCallback((file: FileRecord, data: DataTransfer) =>
      writeDraggedRows(data, selected.has(file.id) ? [...selected.values()] : [file]),
    ),
  })

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = stepOf(event.key)
    const file = rows.rowAt(active)
    if (step !== undefined && total > 0) {
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
      const item = document.querySelector(`#${idOf(active)}`)
      if (item) on.menu(active, file, item)
    } else {
      onKey(event)
      return
    }
    event.preventDefault()
  }

  return {
    list: {
      role: 'grid',
      label,
      multiselectable: true,
      coveredBottom,
      activeId: rows.rowAt(active) ? idOf(active) : undefined,
      onKeyDown,
      className: styles['items'],
    } as const,
    /** Undefined while the file loads. */
    itemAt: (index: number): ItemProps | undefined => {
      const file = rows.rowAt(index)
      return (
        file && {
          id: idOf(index),
          index,
          file,
          isSelected: selected.has(file.id),
          isActive: index === active,
          href: hrefOf(file),
          on,
        }
      )
    },
  }
}

/** The element of an item. */
export const ItemElement = ({
  item: { id, index, file, isSelected, isActive, on },
  className,
  ...rest
}: { item: ItemProps } & HTMLAttributes<HTMLDivElement>) => (
  <div
    {...rest}
    id={id}
    aria-selected={isSelected}
    className={classNames(styles['item'], className, isSelected && styles['selected'], isActive && styles['active'])}
    draggable
    onDragStart={({ dataTransfer }) => on.drag(file, dataTransfer)}
    onClick={(event) => on.press(index, file, event)}
    onContextMenu={(event) => {
      event.preventDefault()
      on.menu(index, file, { x: event.clientX, y: event.clientY })
    }}
  />
)

/** Selects or deselects an item. */
export const ItemCheckbox = ({
  item: { index, file, isSelected, on },
  className,
}: {
  item: ItemProps
  className?: string | undefined
}) => (
  <input
    type="checkbox"
    tabIndex={-1}
    className={classNames(styles['checkbox'], className)}
    aria-label={t`Select ${file.name}`}
    checked={isSelected}
    onClick={(event) => event.stopPropagation()}
    onChange={() => on.check(index, file)}
  />
)

/** Opens the menu of an item. */
export const ItemMenuButton = ({ item: { index, file, on } }: { item: ItemProps }) => (
  <button
    type="button"
    tabIndex={-1}
    className={styles['menu']}
    aria-label={t`Actions for ${file.name}`}
    onClick={(event) => {
      event.stopPropagation()
      on.menu(index, file, event.currentTarget)
    }}
  >
    <Ellipsis aria-hidden="true" />
  </button>
)
