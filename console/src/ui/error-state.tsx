import { AtriumError } from 'atrium-sdk'
import { CircleAlert, CloudOff, Lock, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { RequestId } from './data/request-id.tsx'
import { EmptyState } from './empty-state.tsx'
import { errorMessageOf } from './error-message.ts'
import { Button } from './forms/button.tsx'

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
        <p>{known ? hintOf(known) : errorMessageOf(error)}</p>
        {known?.requestId !== undefined && <RequestId id={known.requestId} />}
      </EmptyState>
    </div>
  )
}
