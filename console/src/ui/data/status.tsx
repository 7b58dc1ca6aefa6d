import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import type { Tone } from './badge.tsx'
import styles from './status.module.css'

/** A state as a colored dot and a word. */
export const Status = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={styles['status']}>
    <span className={classNames(styles['dot'], styles[`dot-${tone}`])} aria-hidden="true" />
    {children}
  </span>
)
