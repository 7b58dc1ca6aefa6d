import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useRef } from 'react'
import type { ReactNode, RefObject, SubmitEvent } from 'react'
import { Button, IconButton } from './button.tsx'
import { classes } from './classes.ts'
import styles from './dialog.module.css'

export interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  children?: ReactNode
  /** Buttons, the one that goes on last. */
  footer?: ReactNode
  wide?: boolean
  /** Makes it a form: Enter sends it. */
  onSubmit?: (() => void) | undefined
  initialFocus?: RefObject<HTMLElement | null>
}

const fields = 'input:not([type=hidden], [hidden], [readonly]), textarea, select'

export const Dialog = ({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  wide,
  onSubmit,
  initialFocus,
}: DialogProps) => {
  const popup = useRef<HTMLDivElement>(null)
  // What is to be filled in, or the dialog itself: its first button closes it. On a phone the keyboard stays away.
  const firstFocus = (by: string): HTMLElement | null =>
    (by === 'touch' ? null : popup.current?.querySelector<HTMLElement>(fields)) ?? popup.current
  const body = (
    <>
      <div className={styles['body']}>{children}</div>
      {footer !== undefined && <div className={styles['footer']}>{footer}</div>}
    </>
  )
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    // React passes events on to the place in the tree, which may be a form as well.
    event.stopPropagation()
    onSubmit?.()
  }
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles['backdrop']} />
        <Base.Popup
          className={classes(styles['popup'], wide === true && styles['wide'])}
          ref={popup}
          initialFocus={initialFocus ?? firstFocus}
        >
          <header className={styles['header']}>
            <Base.Title className={styles['title']}>{title}</Base.Title>
            <Base.Close render={<IconButton small label="Close" icon={<X />} />} />
          </header>
          {description !== undefined && (
            <Base.Description className={styles['description']}>{description}</Base.Description>
          )}
          {onSubmit ? (
            <form className={styles['form']} onSubmit={submit} noValidate>
              {body}
            </form>
          ) : (
            body
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

export interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  /** What will happen and whether it can be undone. */
  description: ReactNode
  /** The deed itself: "Delete 3 files", never "OK". */
  action: string
  onConfirm: () => void
  busy?: boolean
  /** What went wrong when it was tried. */
  error?: ReactNode
}

/** Asks before something that cannot be taken back. */
export const Confirm = ({ action, onConfirm, busy, error, ...dialog }: ConfirmProps) => (
  <Dialog
    {...dialog}
    onSubmit={() => {
      if (busy !== true) onConfirm()
    }}
    footer={
      <>
        <Button onClick={dialog.onClose}>Cancel</Button>
        <Button variant="danger" type="submit" busy={busy}>
          {action}
        </Button>
      </>
    }
  >
    {error}
  </Dialog>
)
