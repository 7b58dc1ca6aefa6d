import type { ComponentProps } from 'react'
import { FieldErrors } from './field-errors.tsx'

/** A form without the browser's own validation messages: fields show their errors themselves. */
export const Form = ({
  onSubmit,
  error,
  children,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit'> & {
  onSubmit: () => void
  /** The error of the last attempt, for the controls and FormError. */
  error?: unknown
}) => (
  <form
    noValidate
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      // React bubbles events through portals, so a form inside a dialog would also submit the form that opened it.
      event.stopPropagation()
      onSubmit()
    }}
  >
    <FieldErrors error={error}>{children}</FieldErrors>
  </form>
)
