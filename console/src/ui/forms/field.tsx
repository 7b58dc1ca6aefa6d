import { useId } from 'react'
import type { ComponentProps, ElementType, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './field.module.css'

export interface FieldProps {
  label: string
  /** A sentence below the control. */
  hint?: ReactNode
  /** Validation error; shown instead of the hint. */
  error?: string | undefined
  /** Visible to screen readers only. */
  hideLabel?: boolean
  optional?: boolean
}

type Control = ComponentProps<'input'> | ComponentProps<'textarea'> | ComponentProps<'select'>

/** A label, its control, and the error or hint below it, connected by `aria-describedby`. */
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

/** The native select element, because phones and keyboards support it best. */
export const SelectField = (props: FieldProps & ComponentProps<'select'>) => (
  <Field {...props} as="select" look={styles['select']} />
)

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
