import { t } from '@lingui/core/macro'
import { useVirtualizer } from '@tanstack/react-virtual'
import type { Preview } from '@atrium/client'
import { useMemo, useRef, useState } from 'react'
import { formatNumber } from '../../../format.ts'
import { classNames } from '../../../ui/class-names.ts'
import styles from './spreadsheet.module.css'

type Sheet = NonNullable<Preview['sheets']>[number]

const rowHeight = 28
const gutter = 52

/** 0 → A, 26 → AA */
const columnName = (index: number): string =>
  index < 26 ? String.fromCodePoint(65 + index) : columnName(Math.floor(index / 26) - 1) + columnName(index % 26)

const sampledRows = 200
/** Column widths in pixels (64–340) for the longest of the first 200 cells. */
const widthsOf = ({ rows }: Sheet): number[] => {
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0)
  return Array.from({ length: count }, (_, column) => {
    const longest = rows.slice(0, sampledRows).reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 3)
    return Math.min(340, Math.max(64, longest * 7.4 + 20))
  })
}

const isNumber = (text: string): boolean => /^[-+]?[\d.,\s]+%?$/.test(text) && /\d/.test(text)

const Grid = ({ sheet }: { sheet: Sheet }) => {
  const scroller = useRef<HTMLDivElement>(null)
  const widths = useMemo(() => widthsOf(sheet), [sheet])
  const shared = { getScrollElement: () => scroller.current }
  const rows = useVirtualizer({
    ...shared,
    count: sheet.rows.length,
    estimateSize: () => rowHeight,
    overscan: 10,
    paddingStart: rowHeight,
    scrollPaddingStart: rowHeight,
  })
  const columns = useVirtualizer({
    ...shared,
    horizontal: true,
    count: widths.length,
    estimateSize: (index) => widths[index] ?? 64,
    overscan: 3,
    paddingStart: gutter,
  })
  const shownColumns = columns.getVirtualItems()
  return (
    <div
      ref={scroller}
      className={styles['grid']}
      role="table"
      aria-label={sheet.name}
      aria-rowcount={sheet.rowCount}
      aria-colcount={sheet.columnCount}
      tabIndex={0}
      data-scrolls
    >
      <div
        role="rowgroup"
        style={{ height: rows.getTotalSize(), width: columns.getTotalSize() }}
        className={styles['inner']}
      >
        <div role="row" className={styles['headRow']} style={{ width: columns.getTotalSize() }}>
          <span role="columnheader" className={styles['corner']}>
            <span className="visually-hidden">{t`Row`}</span>
          </span>
          {shownColumns.map(({ index, start, size }) => (
            <span key={index} role="columnheader" className={styles['head']} style={{ left: start, width: size }}>
              {columnName(index)}
            </span>
          ))}
        </div>
        {rows.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            role="row"
            aria-rowindex={index + 1}
            className={styles['row']}
            style={{ transform: `translateY(${start}px)`, width: columns.getTotalSize() }}
          >
            <span role="rowheader" className={styles['number']}>
              {index + 1}
            </span>
            {shownColumns.map(({ index: column, start: left, size }) => {
              const text = sheet.rows[index]?.[column] ?? ''
              return (
                <span
                  key={column}
                  role="cell"
                  className={classNames(styles['cell'], isNumber(text) && styles['numeric'])}
                  style={{ left, width: size }}
                  title={text}
                >
                  {text}
                </span>
              )
            })}
          </div>
        ))}
      </div>
    </div>
  )
}

/** A workbook as a grid, one sheet at a time. */
export const Spreadsheet = ({ sheets }: { sheets: readonly Sheet[] }) => {
  const [chosen, setChosen] = useState(0)
  const sheet = sheets[chosen]
  if (!sheet) return null
  return (
    <div className={styles['book']}>
      <Grid key={chosen} sheet={sheet} />
      <footer className={styles['footer']}>
        <div className={styles['names']} role="group" aria-label={t`Sheets`}>
          {sheets.length > 1 &&
            sheets.map(({ name }, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- sheet names are not unique
              <button
                key={index}
                type="button"
                aria-pressed={index === chosen}
                className={styles['sheetName']}
                onClick={() => setChosen(index)}
              >
                {name}
              </button>
            ))}
        </div>
        <span className={styles['size']}>
          {formatNumber(sheet.rowCount)} × {formatNumber(sheet.columnCount)}
          {sheet.truncated && ` (${t`first ${formatNumber(sheet.rows.length)} rows shown`})`}
        </span>
      </footer>
    </div>
  )
}
