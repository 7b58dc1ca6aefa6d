import { useLingui } from '@lingui/react/macro'
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useRef } from 'react'
import type { ReactNode, RefObject } from 'react'
import { IconButton } from './forms/button.tsx'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import { Form } from './forms/form.tsx'

export interface DialogProps {
  open: boolean
  onClose: () => void
  /** While it is set, neither Escape nor a click beside the dialog closes it: the result would not be seen. */
  busy?: boolean | undefined
  title: string
  description?: ReactNode
  children?: ReactNode
  /** Buttons; the primary action comes last. */
  footer?: ReactNode
  wide?: boolean
  /** Renders a form, so that Enter submits it. */
  onSubmit?: (() => void) | undefined
  initialFocus?: RefObject<HTMLElement | null>
}

const fields = 'input:not([type=hidden], [hidden], [readonly]), textarea, select'

export const Dialog = ({
  open,
  onClose,
  busy,
  title,
  description,
  children,
  footer,
  wide,
  onSubmit,
  initialFocus,
}: DialogProps) => {
  const { t } = useLingui()
  const popup = useRef<HTMLDivElement>(null)
  // The first field, or the dialog itself, because its first button is Close. After a touch no field is focused: the
  // keyboard of a phone would cover the dialog.
  const firstFocus = (by: string): HTMLElement | null =>
    (by === 'touch' ? null : popup.current?.querySelector<HTMLElement>(fields)) ?? popup.current
  const body = (
    <>
      <div className={styles['body']}>{children}</div>
      {footer !== undefined && <div className={styles['footer']}>{footer}</div>}
    </>
  )
  return (
    <Base.Root
      open={open}
      onOpenChange={(next, { reason }) => {
        const isByChance = reason === 'escape-key' || reason === 'outside-press'
        if (!next && !(busy === true && isByChance)) onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={styles['backdrop']} />
        <Base.Popup
          className={classNames(styles['popup'], wide === true && styles['wide'])}
          ref={popup}
          initialFocus={initialFocus ?? firstFocus}
        >
          <header className={styles['header']}>
            <Base.Title className={styles['title']}>{title}</Base.Title>
            <Base.Close render={<IconButton small label={t`Close`} icon={<X />} />} />
          </header>
          {description !== undefined && (
            <Base.Description className={styles['description']}>{description}</Base.Description>
          )}
          {onSubmit ? (
            <Form className={styles['form']} onSubmit={onSubmit}>
              {body}
            </Form>
          ) : (
            body
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
