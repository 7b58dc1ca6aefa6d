import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { RequestId } from './data/request-id.tsx'
import { errorMessageOf, requestIdOf } from './error-message.ts'
import styles from './notice.module.css'

/** A message within a page, or the error of a failed call, with the request ID of a server error. */
export const Notice = ({
  error,
  tone = 'bad',
  children,
}: {
  error?: unknown
  tone?: 'bad' | 'warn' | 'info' | 'good'
  children?: ReactNode
}) => {
  if (error === null || (error === undefined && children === undefined)) return null
  const requestId = requestIdOf(error)
  return (
    <div className={classNames(styles['notice'], styles[tone])} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
      {error !== undefined && <span>{errorMessageOf(error)}</span>}
      {requestId !== undefined && <RequestId id={requestId} />}
    </div>
  )
}
