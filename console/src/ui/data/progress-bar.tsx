import { classNames } from '../class-names.ts'
import type { Tone } from './badge.tsx'
import styles from './progress-bar.module.css'

/** `value` is from 0 to 1. */
export const ProgressBar = ({ value, label, tone = 'neutral' }: { value: number; label: string; tone?: Tone }) => (
  <progress
    className={classNames(styles['progress'], styles[`progress-${tone}`])}
    value={value}
    max={1}
    aria-label={label}
  />
)
