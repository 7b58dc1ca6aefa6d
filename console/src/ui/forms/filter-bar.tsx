import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './filter-bar.module.css'

/**
 * Controls above a list, in lines on a phone. The first one is wide, usually a search; `even` for filters of one width.
 * `actions` are at the end.
 */
export const FilterBar = ({
  children,
  actions,
  even = false,
}: {
  children: ReactNode
  actions?: ReactNode
  even?: boolean
}) => (
  <div className={classNames(styles['bar'], even && styles['even'])} role="search">
    {children}
    {actions !== undefined && actions !== false && <span className={styles['end']}>{actions}</span>}
  </div>
)
