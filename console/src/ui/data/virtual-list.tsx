import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import styles from './virtual-list.module.css'

export interface VirtualListProps {
  label: string
  count: number
  /** Pixels; the same for every row. */
  rowHeight: number
  renderRow: (index: number) => ReactNode
  /** Called with the visible rows (`end` excluded), to load missing pages. */
  onRange?: (start: number, end: number) => void
  /** Scrolled into view whenever it changes. */
  activeIndex?: number | undefined
  /** The id of the active row, for `aria-activedescendant`: the list itself has the focus. */
  activeId?: string | undefined
  onKeyDown?: (event: KeyboardEvent<HTMLDivElement>) => void
  multiselectable?: boolean

  role?: 'listbox' | 'list' | 'grid'
  rowCount?: number
  /** Stays at the top; `height` in pixels. */
  header?: { element: ReactNode; height: number } | undefined
  /** Pixels below the last row that something else covers. */
  coveredBottom?: number
  className?: string | undefined
}

/** A list of any length that renders only the visible rows. Rows must set `aria-rowindex` or `aria-posinset`. */
export const VirtualList = ({
  label,
  count,
  rowHeight,
  renderRow,
  onRange,
  activeIndex,
  activeId,
  onKeyDown,
  multiselectable,
  role = 'listbox',
  rowCount,
  header,
  coveredBottom = 0,
  className,
}: VirtualListProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    paddingStart: header?.height ?? 0,
    scrollPaddingStart: header?.height ?? 0,
    paddingEnd: coveredBottom,
    scrollPaddingEnd: coveredBottom,
  })
  useLayoutEffect(() => virtualizer.measure(), [rowHeight, virtualizer])
  const items = virtualizer.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = (items.at(-1)?.index ?? -1) + 1

  useEffect(() => onRange?.(first, last), [onRange, first, last])
  useEffect(() => {
    if (activeIndex !== undefined && activeIndex >= 0) virtualizer.scrollToIndex(activeIndex, { align: 'auto' })
  }, [activeIndex, virtualizer])

  return (
    <div
      ref={scroller}
      className={`${styles['scroller']} ${className ?? ''}`}
      role={role}
      aria-label={label}
      aria-multiselectable={multiselectable}
      aria-rowcount={rowCount}
      aria-activedescendant={activeId}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className={styles['inner']} style={{ height: virtualizer.getTotalSize() }} role="presentation">
        {header && (
          <div className={styles['header']} style={{ height: header.height }} role="presentation">
            {header.element}
          </div>
        )}
        {items.map(({ index, key, start }) => (
          <div
            key={key}
            className={styles['row']}
            style={{ height: rowHeight, transform: `translateY(${start}px)` }}
            role="presentation"
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
