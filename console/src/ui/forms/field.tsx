import { useId } from 'react'
import type { ComponentProps, ElementType, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
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

type Control = ComponentProps<'input'> | ComponentProps<'textarea'> | ComponentProps<'select'>

/** The label, the control that it belongs to, and below it what is wrong or else the hint; read out with it, too. */
const Field = ({
  as: Tag,
  look,
  label,
  hint,
  error,
  hideLabel,
  optional,
  className,
  ...control
}: FieldProps & Control & { as: ElementType; look?: string | undefined }) => {
  const own = useId()
  const id = control.id ?? own
  const below = error ?? hint
  const isWrong = error !== undefined
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={hideLabel === true ? 'visually-hidden' : styles['label']}>
        {label}
        {optional === true && <span className={styles['optional']}> optional</span>}
      </label>
      <Tag
        {...control}
        id={id}
        className={classNames(styles['input'], look, className)}
        aria-invalid={isWrong || undefined}
        aria-describedby={below === undefined ? undefined : `${id}-below`}
      />
      {below !== undefined && (
        <p id={`${id}-below`} className={styles[isWrong ? 'error' : 'hint']} role={isWrong ? 'alert' : undefined}>
          {below}
        </p>
      )}
    </div>
  )
}

export const TextField = (props: FieldProps & ComponentProps<'input'>) => <Field {...props} as="input" />

export const TextArea = (props: FieldProps & ComponentProps<'textarea'>) => (
  <Field {...props} as="textarea" look={styles['area']} />
)

/** The system's own list: it is the best one on phones, and the keyboard knows it. */
export const SelectField = (props: FieldProps & ComponentProps<'select'>) => (
  <Field {...props} as="select" look={styles['select']} />
)

/** One thing that is on or off, with words that can be pressed as well. */
export const CheckField = ({
  label,
  hint,
  className,
  ...input
}: { label: ReactNode; hint?: ReactNode } & ComponentProps<'input'>) => (
  <label className={classNames(styles['check'], className)}>
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
