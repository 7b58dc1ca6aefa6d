import type { UseQueryResult } from '@tanstack/react-query'
import { AtriumError } from 'atrium-sdk'
import { CircleAlert, CloudOff, Lock, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './forms/button.tsx'
import { classes } from './classes.ts'
import { RequestId } from './data/request-id.tsx'
import styles from './states.module.css'

export interface StateProps {
  icon?: ReactNode
  title: string
  children?: ReactNode
  /** The one thing to do about it. */
  action?: ReactNode
  /** Within a panel instead of over a page. */
  compact?: boolean
}

/** Nothing here, and why, and what to do: the frame of every state that is not the content itself. */
export const EmptyState = ({ icon, title, children, action, compact }: StateProps) => (
  <div className={classes(styles['state'], compact === true && styles['compact'])}>
    {icon !== undefined && <div className={styles['icon']}>{icon}</div>}
    <h2 className={styles['title']}>{title}</h2>
    {children !== undefined && <div className={styles['text']}>{children}</div>}
    {action !== undefined && <div className={styles['action']}>{action}</div>}
  </div>
)

const faceOf = (error: AtriumError): { icon: ReactNode; title: string } => {
  if (error.code === 'NETWORK') return { icon: <CloudOff />, title: 'The server cannot be reached' }
  if (error.code === 'FORBIDDEN') return { icon: <Lock />, title: 'This is not open to you' }
  if (error.code === 'NOT_FOUND') return { icon: <SearchX />, title: 'There is nothing here' }
  return { icon: <CircleAlert />, title: 'This did not work' }
}

const hintOf = (error: AtriumError): string => {
  if (error.code === 'NETWORK') return 'Your network may be down, or the server is being restarted.'
  if (error.code === 'FORBIDDEN') return `${error.message} An owner or admin of the organisation can change that.`
  return error.message
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something unexpected happened.'

/** A call that failed in place of what it was to show: the API's message, its request id, and another try. */
export const ErrorState = ({
  error,
  onRetry,
  compact,
}: {
  error: unknown
  onRetry?: () => void
  compact?: boolean
}) => {
  const known = error instanceof AtriumError ? error : undefined
  const { icon, title } = known ? faceOf(known) : { icon: <CircleAlert />, title: 'This did not work' }
  const mayHelp = known?.code !== 'FORBIDDEN' && known?.code !== 'NOT_FOUND'
  return (
    <div role="alert">
      <EmptyState
        icon={icon}
        title={title}
        {...(compact && { compact })}
        {...(onRetry && mayHelp && { action: <Button onClick={onRetry}>Try again</Button> })}
      >
        <p>{known ? hintOf(known) : messageOf(error)}</p>
        {known?.requestId !== undefined && <RequestId id={known.requestId} />}
      </EmptyState>
    </div>
  )
}

/** A failed call above or below the form that made it. */
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
  const known = error instanceof AtriumError ? error : undefined
  return (
    <div className={classes(styles['notice'], styles[tone])} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
      {error !== undefined && <span>{messageOf(error)}</span>}
      {known?.requestId !== undefined && <RequestId id={known.requestId} />}
    </div>
  )
}

/** Grey lines where rows will be, after a moment: a quick answer should not flicker. */
export const LoadingState = ({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) => (
  <div className={styles['loading']} role="status" aria-label={label}>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} className={styles['bar']} data-width={index % 4} />
    ))}
  </div>
)

/** Shows what a query has: the content, or the state that it is in instead. */
export const Await = <T,>({
  query,
  loading,
  compact,
  children,
}: {
  query: UseQueryResult<T>
  loading?: ReactNode
  compact?: boolean
  children: (data: T) => ReactNode
}) => {
  if (query.data !== undefined) return children(query.data)
  if (query.error)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} {...(compact && { compact })} />
  return loading ?? <LoadingState />
}
