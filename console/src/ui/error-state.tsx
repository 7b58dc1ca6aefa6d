import { t } from '@lingui/core/macro'
import { AtriumError } from '@atrium/client'
import { CircleAlert, CloudOff, Lock, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { RequestId } from './data/request-id.tsx'
import { EmptyState } from './empty-state.tsx'
import { errorMessageOf, requestIdOf } from './error-message.ts'
import { Button } from './forms/button.tsx'

const presentationOf = (error: AtriumError): { icon: ReactNode; title: string } => {
  if (error.code === 'NETWORK') return { icon: <CloudOff />, title: t`Server unreachable` }
  if (error.code === 'FORBIDDEN') return { icon: <Lock />, title: t`You do not have access` }
  if (error.code === 'NOT_FOUND') return { icon: <SearchX />, title: t`Not found` }
  return { icon: <CircleAlert />, title: t`Something went wrong` }
}

const hintOf = (error: AtriumError): string => {
  if (error.code === 'NETWORK') return t`Check your network connection. The server may be restarting.`
  if (error.code === 'FORBIDDEN')
    return t`${errorMessageOf(error)} Ask an owner or admin of the organization for access.`
  return errorMessageOf(error)
}

/** Shown in place of content that failed to load: the API's message, the request ID of a server error, and a retry button. */
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
  const requestId = requestIdOf(error)
  const { icon, title } = known ? presentationOf(known) : { icon: <CircleAlert />, title: t`Something went wrong` }
  const mayHelp = known?.code !== 'FORBIDDEN' && known?.code !== 'NOT_FOUND'
  return (
    <div role="alert">
      <EmptyState
        icon={icon}
        title={title}
        {...(compact && { compact })}
        {...(onRetry && mayHelp && { action: <Button onClick={onRetry}>{t`Try again`}</Button> })}
      >
        <p>{known ? hintOf(known) : errorMessageOf(error)}</p>
        {requestId !== undefined && <RequestId id={requestId} />}
      </EmptyState>
    </div>
  )
}
