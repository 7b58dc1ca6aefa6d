import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './table.module.css'

export interface Column<T> {
  title: string
  /** What the cell shows. */
  cell: (row: T) => ReactNode
  /** Left out below 700 pixels: what one can do without. */
  optional?: boolean
  align?: 'end'
  /** Only for screen readers, above buttons. */
  hideTitle?: boolean
  /** As narrow as its content. */
  tight?: boolean
}

/** Rows of things with a few fields each. For thousands of rows there is VirtualList. */
export const Table = <T,>({
  label,
  columns,
  rows,
  keyOf,
  onOpen,
}: {
  label: string
  columns: Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** A press anywhere on the row; its first cell should hold the link for the keyboard. */
  onOpen?: (row: T) => void
}) => (
  <div className={styles['frame']}>
    <table className={styles['table']} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ title, optional, align, hideTitle, tight }) => (
            <th
              key={title}
              scope="col"
              className={classNames(
                optional === true && styles['optional'],
                align === 'end' && styles['end'],
                tight === true && styles['tight'],
              )}
            >
              <span className={hideTitle === true ? 'visually-hidden' : undefined}>{title}</span>
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
                key={title}
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
