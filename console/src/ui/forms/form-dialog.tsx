import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import type { ButtonProps } from './button.tsx'
import { Dialog } from '../dialog.tsx'
import type { DialogProps } from '../dialog.tsx'
import { Notice } from '../notice.tsx'
import type { Submit } from './use-submit.ts'

export interface FormDialogProps extends Omit<DialogProps, 'open' | 'footer' | 'onSubmit'> {
  /** For one that stays in the tree while it is closed. */
  open?: boolean
  /** What it does, as `useSubmit` has it: the button is busy meanwhile, and what went wrong stands above the fields. */
  form: Pick<Submit, 'submit'> & Partial<Submit>
  /** The deed itself: "Delete 3 files", never "OK". */
  action: string
  variant?: 'primary' | 'danger'
  icon?: ReactNode
  /** Why it cannot be done yet: neither the button nor Enter does it then. */
  disabledReason?: ButtonProps['disabledReason']
  /** The button that leaves it. */
  cancel?: string
}

/** A question that is answered by filling in and sending, or left by Cancel. */
export const FormDialog = ({
  open = true,
  form,
  action,
  variant = 'primary',
  icon,
  disabledReason,
  cancel = 'Cancel',
  children,
  ...dialog
}: FormDialogProps) => (
  <Dialog
    {...dialog}
    open={open}
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
    <Notice error={form.error} />
    {children}
  </Dialog>
)

export interface ConfirmDialogProps extends Pick<FormDialogProps, 'open' | 'onClose' | 'title' | 'form' | 'action'> {
  /** What will happen and whether it can be undone. */
  description: ReactNode
}

/** Asks before something that cannot be taken back. */
export const ConfirmDialog = (question: ConfirmDialogProps) => <FormDialog {...question} variant="danger" />
