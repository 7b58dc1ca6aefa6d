import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './badge.module.css'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info'

export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={classNames(styles['badge'], styles[tone])}>{children}</span>
)
