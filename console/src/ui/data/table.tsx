import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './table.module.css'

export interface Column<T> {
  title: Text
  cell: (row: T) => ReactNode
  /** Hidden below 700 pixels. */
  optional?: boolean
  align?: 'end'
  /** Visible to screen readers only, for columns of buttons. */
  hideTitle?: boolean
  /** As narrow as its content. */
  tight?: boolean
}

/** A table that renders every row. Use VirtualList for thousands of rows. */
export const Table = <T,>({
  label,
  columns,
  rows,
  keyOf,
  onOpen,
  stacked,
}: {
  label: string
  columns: Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** A click anywhere on the row. The first cell must contain a link, for the keyboard. */
  onOpen?: (row: T) => void
  /** On a phone, the cells of a row are below each other. `actions`: with the last one at the top right. */
  stacked?: 'all' | 'actions'
}) => (
  <div className={styles['frame']}>
    <table
      className={classNames(
        styles['table'],
        stacked !== undefined && styles['stacked'],
        stacked === 'actions' && styles['actions'],
      )}
      aria-label={label}
    >
      <thead>
        <tr>
          {columns.map(({ title, optional, align, hideTitle, tight }) => (
            <th
              key={textOf(title)}
              scope="col"
              className={classNames(
                optional === true && styles['optional'],
                align === 'end' && styles['end'],
                tight === true && styles['tight'],
              )}
            >
              <span className={hideTitle === true ? 'visually-hidden' : undefined}>{textOf(title)}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            className={classNames(onOpen && styles['opens'])}
            onClick={(event) => {
              const { target } = event
              if (onOpen && target instanceof Element && !target.closest('a, button, input, label')) onOpen(row)
            }}
          >
            {columns.map(({ title, cell, optional, align, tight }) => (
              <td
                key={textOf(title)}
                className={classNames(
                  optional === true && styles['optional'],
                  align === 'end' && styles['end'],
                  tight === true && styles['tight'],
                )}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
