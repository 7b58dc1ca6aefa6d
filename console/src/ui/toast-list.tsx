import { t } from '@lingui/core/macro'
import { Toast } from '@base-ui/react/toast'
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect } from 'react'
import type { ReactNode } from 'react'
import { IconButton } from './forms/button.tsx'
import { errorMessageOf, requestIdOf } from './error-message.ts'
import { RequestId } from './data/request-id.tsx'
import { showMessages } from './toast.tsx'
import type { Message } from './toast.tsx'
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

const add = ({ title, action, failure }: Message): void => {
  if (failure) {
    manager.add({ title, description: withId(failure.error), type: 'failed', priority: 'high', timeout: 12_000 })
    return
  }
  manager.add({
    title,
    type: 'done',
    ...(action && { actionProps: { children: action.label, onClick: action.onClick } }),
  })
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

export const ToastList = () => {
  // Effects of a parent run after those of its children, so the provider listens to the manager by then.
  useEffect(() => showMessages(add), [])
  return (
    <Toast.Provider toastManager={manager} timeout={4_000} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className={styles['viewport']}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}
