import { Trans } from '@lingui/react/macro'
import { useId } from 'react'
import type { ComponentProps, ElementType, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { useFieldError } from './field-errors.tsx'
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
  /** The field of the API that this control sets; the control shows the API's errors of this field. */
  field?: string
}

type Control = ComponentProps<'input'> | ComponentProps<'textarea'> | ComponentProps<'select'>

/** A label, its control, and the error or hint below it, connected by `aria-describedby`. */
const Field = ({
  as: Tag,
  look,
  label,
  hint,
  error: ownError,
  hideLabel,
  optional,
  field,
  className,
  ...control
}: FieldProps & Control & { as: ElementType; look?: string | undefined }) => {
  const own = useId()
  const id = control.id ?? own
  const apiError = useFieldError(field, label)
  const error = ownError ?? apiError
  const below = error ?? hint
  const isWrong = error !== undefined
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={hideLabel === true ? 'visually-hidden' : styles['label']}>
        {label}
        {optional === true && (
          <span className={styles['optional']}>
            {' '}
            <Trans>optional</Trans>
          </span>
        )}
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

interface BoxProps extends ComponentProps<'input'> {
  label: ReactNode
  hint?: ReactNode
}

const Box = ({ label, hint, className, ...input }: BoxProps) => (
  <label className={classNames(styles['check'], className)}>
    <input {...input} className={styles['box']} />
    <span>
      {label}
      {hint !== undefined && <span className={styles['hint']}>{hint}</span>}
    </span>
  </label>
)

export const CheckField = (props: BoxProps) => <Box {...props} type="checkbox" />

export const RadioField = (props: BoxProps) => <Box {...props} type="radio" />

/** Fields side by side where there is room. */
export const FieldRow = ({ children }: { children: ReactNode }) => <div className={styles['row']}>{children}</div>

/** Controls that belong together, with a legend, and the error or hint below it. */
export const FieldGroup = ({
  label,
  hint,
  error,
  children,
}: Pick<FieldProps, 'label' | 'hint' | 'error'> & { children: ReactNode }) => {
  const id = useId()
  const below = error ?? hint
  return (
    <fieldset className={styles['group']} aria-describedby={below === undefined ? undefined : id}>
      <legend className={styles['label']}>{label}</legend>
      {below !== undefined && (
        <p id={id} className={styles[error === undefined ? 'hint' : 'error']} role={error && 'alert'}>
          {below}
        </p>
      )}
      {children}
    </fieldset>
  )
}

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
