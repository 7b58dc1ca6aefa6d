import { t } from '@lingui/core/macro'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import type { ButtonProps } from './button.tsx'
import { Dialog } from '../dialog.tsx'
import type { DialogProps } from '../dialog.tsx'
import { FieldErrors, FormError } from './field-errors.tsx'
import type { Submit } from './use-submit.ts'

export interface FormDialogProps extends Omit<DialogProps, 'open' | 'busy' | 'footer' | 'onSubmit'> {
  /** For dialogs that stay mounted while they are closed. */
  open?: boolean
  /** Usually from `useSubmit`: sets the busy state of the button and the error above the fields or at one. */
  form: Pick<Submit, 'submit'> & Partial<Submit>
  /** Button label. Name the action: "Delete 3 files", never "OK". */
  action: string
  variant?: 'primary' | 'danger'
  icon?: ReactNode
  /** Why the form cannot be submitted yet, neither by the button nor by Enter. */
  disabledReason?: ButtonProps['disabledReason']
  /** Label of the button that closes the dialog. */
  cancel?: string
}

export const FormDialog = ({
  open = true,
  form,
  action,
  variant = 'primary',
  icon,
  disabledReason,
  cancel = t`Cancel`,
  children,
  ...dialog
}: FormDialogProps) => (
  <Dialog
    {...dialog}
    open={open}
    busy={form.busy}
    onSubmit={() => {
      if (typeof disabledReason !== 'string') form.submit()
    }}
    footer={
      <>
        <Button onClick={dialog.onClose}>{cancel}</Button>
        <Button variant={variant} type="submit" icon={icon} busy={form.busy} disabledReason={disabledReason}>
          {action}
        </Button>
      </>
    }
  >
    <FieldErrors error={form.error}>
      <FormError />
      {children}
    </FieldErrors>
  </Dialog>
)

export interface ConfirmDialogProps extends Pick<FormDialogProps, 'open' | 'onClose' | 'title' | 'form' | 'action'> {
  /** What will happen and whether it can be undone. */
  description: ReactNode
}

/** Asks for confirmation before a destructive action. */
export const ConfirmDialog = (props: ConfirmDialogProps) => <FormDialog {...props} variant="danger" />
