import type { ReactNode } from 'react'
import styles from './facts.module.css'

export type Fact = [term: string, value: ReactNode]

/** What is known of one thing, each with its name above it, in as many columns as there is room for. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className={styles['facts']}>
    {facts.map(([term, value]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
