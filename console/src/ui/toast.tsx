import { t } from '@lingui/core/macro'
import { Toast } from '@base-ui/react/toast'
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './forms/button.tsx'
import { errorMessageOf, requestIdOf } from './error-message.ts'
import { RequestId } from './data/request-id.tsx'
import styles from './toast.module.css'

const manager = Toast.createToastManager()

const withId = (error: unknown): ReactNode => {
  const requestId = requestIdOf(error)
  return (
    <>
      {errorMessageOf(error)}
      {requestId !== undefined && <RequestId id={requestId} />}
    </>
  )
}

export const toast = {
  /** For a success that the page does not show. */
  done: (title: string, action?: { label: string; onClick: () => void }): void => {
    manager.add({
      title,
      type: 'done',
      ...(action && { actionProps: { children: action.label, onClick: action.onClick } }),
    })
  },
  /** For a failed call: the API's message, with the request ID of a server error. A cancelled call shows nothing. */
  failed: (title: string, error: unknown): void => {
    if (error instanceof DOMException && error.name === 'AbortError') return
    manager.add({ title, description: withId(error), type: 'failed', priority: 'high', timeout: 12_000 })
  },
}

const List = () => {
  const { toasts } = Toast.useToastManager()
  return toasts.map((one) => (
    <Toast.Root key={one.id} toast={one} className={styles['toast']} swipeDirection={['right', 'down']}>
      <span className={one.type === 'failed' ? styles['bad'] : styles['good']}>
        {one.type === 'failed' ? <CircleAlert aria-hidden="true" /> : <CircleCheck aria-hidden="true" />}
      </span>
      <div className={styles['text']}>
        <Toast.Title className={styles['title']} render={<p />} />
        <Toast.Description className={styles['description']} render={<div />} />
      </div>
      <Toast.Action className={styles['action']} />
      <Toast.Close render={<IconButton small label={t`Dismiss`} icon={<X />} />} />
    </Toast.Root>
  ))
}

export const Toasts = ({ children }: { children: ReactNode }) => (
  <Toast.Provider toastManager={manager} timeout={4_000} limit={4}>
    {children}
    <Toast.Portal>
      <Toast.Viewport className={styles['viewport']}>
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)
