import { useId } from 'react'
import type { ComponentProps, ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './field.module.css'

export interface FieldProps {
  label: string
  /** A sentence below, for what the label cannot say. */
  hint?: ReactNode
  /** What is wrong with it, from the form or from the API. */
  error?: string | undefined
  /** Only for screen readers: where the place says it already. */
  hideLabel?: boolean
  optional?: boolean
}

const describe = (id: string, hint: ReactNode, error: string | undefined) => {
  if (error !== undefined) return `${id}-error`
  return hint === undefined ? undefined : `${id}-hint`
}

const Frame = ({
  id,
  label,
  hint,
  error,
  hideLabel,
  optional,
  children,
}: FieldProps & { id: string; children: ReactNode }) => (
  <div className={styles['field']}>
    <label htmlFor={id} className={hideLabel === true ? 'visually-hidden' : styles['label']}>
      {label}
      {optional === true && <span className={styles['optional']}> optional</span>}
    </label>
    {children}
    {error !== undefined ? (
      <p id={`${id}-error`} className={styles['error']} role="alert">
        {error}
      </p>
    ) : (
      hint !== undefined && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )
    )}
  </div>
)

export const TextField = ({
  label,
  hint,
  error,
  hideLabel,
  optional,
  className,
  ...input
}: FieldProps & ComponentProps<'input'>) => {
  const own = useId()
  const id = input.id ?? own
  return (
    <Frame {...{ id, label, hint, error }} {...(hideLabel && { hideLabel })} {...(optional && { optional })}>
      <input
        {...input}
        id={id}
        className={classes(styles['input'], className)}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={describe(id, hint, error)}
      />
    </Frame>
  )
}

export const TextArea = ({
  label,
  hint,
  error,
  hideLabel,
  optional,
  className,
  ...input
}: FieldProps & ComponentProps<'textarea'>) => {
  const own = useId()
  const id = input.id ?? own
  return (
    <Frame {...{ id, label, hint, error }} {...(hideLabel && { hideLabel })} {...(optional && { optional })}>
      <textarea
        {...input}
        id={id}
        className={classes(styles['input'], styles['area'], className)}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={describe(id, hint, error)}
      />
    </Frame>
  )
}

/** The system's own list: it is the best one on phones, and the keyboard knows it. */
export const SelectField = ({
  label,
  hint,
  error,
  hideLabel,
  optional,
  className,
  children,
  ...input
}: FieldProps & ComponentProps<'select'>) => {
  const own = useId()
  const id = input.id ?? own
  return (
    <Frame {...{ id, label, hint, error }} {...(hideLabel && { hideLabel })} {...(optional && { optional })}>
      <select
        {...input}
        id={id}
        className={classes(styles['input'], styles['select'], className)}
        aria-describedby={describe(id, hint, error)}
      >
        {children}
      </select>
    </Frame>
  )
}

/** One thing that is on or off, with words that can be pressed as well. */
export const CheckField = ({
  label,
  hint,
  className,
  ...input
}: { label: ReactNode; hint?: ReactNode } & ComponentProps<'input'>) => (
  <label className={classes(styles['check'], className)}>
    <input {...input} type="checkbox" className={styles['box']} />
    <span>
      {label}
      {hint !== undefined && <span className={styles['hint']}>{hint}</span>}
    </span>
  </label>
)

/** A switch for what takes effect at once. */
export const SwitchField = ({
  label,
  hint,
  ...input
}: { label: string; hint?: ReactNode } & ComponentProps<'input'>) => (
  <label className={styles['switchRow']}>
    <span>
      {label}
      {hint !== undefined && <span className={styles['hint']}>{hint}</span>}
    </span>
    <input {...input} type="checkbox" role="switch" className={styles['switch']} />
  </label>
)
