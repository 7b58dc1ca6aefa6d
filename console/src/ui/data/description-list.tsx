import type { ReactNode } from 'react'
import styles from './description-list.module.css'

export type Description = [term: string, value: ReactNode]

/** Terms with their values, in as many columns as fit. */
export const DescriptionList = ({ items }: { items: readonly Description[] }) => (
  <dl className={styles['list']}>
    {items.map(([term, value]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
