import { useId } from 'react'
import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './segmented.module.css'

export interface Segment<T extends string> {
  value: T
  label: string
  disabled?: boolean
}

/** A row with a choice of a few values, as radio buttons in one control. `hint` also says why values are disabled. */
export const Segmented = <T extends string>({
  label,
  hint,
  segments,
  value,
  onChange,
}: {
  label: string
  hint?: ReactNode
  segments: readonly Segment<T>[]
  value: T
  onChange: (value: T) => void
}) => {
  const id = useId()
  return (
    <div
      role="radiogroup"
      aria-labelledby={id}
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      className={styles['row']}
    >
      <span className={styles['text']}>
        <span id={id}>{label}</span>
        {hint !== undefined && (
          <span id={`${id}-hint`} className={styles['hint']}>
            {hint}
          </span>
        )}
      </span>
      <span className={styles['segments']}>
        {segments.map((segment) => (
          <label
            key={segment.value}
            className={classNames(styles['segment'], segment.disabled === true && styles['off'])}
          >
            <input
              type="radio"
              name={id}
              className={styles['input']}
              checked={segment.value === value}
              disabled={segment.disabled}
              onChange={() => onChange(segment.value)}
            />
            {segment.label}
          </label>
        ))}
      </span>
    </div>
  )
}

/** Switches between views of the same data. */
export const ViewSwitch = <T extends string>({
  label,
  views,
  value,
  onChange,
}: {
  label: string
  views: readonly (readonly [value: T, label: string])[]
  value: T
  onChange: (value: T) => void
}) => (
  <div className={styles['switch']} role="group" aria-label={label}>
    {views.map(([one, name]) => (
      <button key={one} type="button" aria-pressed={one === value} onClick={() => onChange(one)}>
        {name}
      </button>
    ))}
  </div>
)
