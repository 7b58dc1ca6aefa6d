import type { UseQueryResult } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import type { ReactNode } from 'react'
import { ErrorState } from './error-state.tsx'
import { Skeleton } from './skeleton.tsx'

/** Renders the data of a query, or its loading or error state. */
export const QueryBoundary = <T,>({
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
  // The first data is rendered in short tasks, between which a phone can paint and scroll.
  const isReady = useDeferredValue(query.data !== undefined)
  if (query.data !== undefined && isReady) return children(query.data)
  if (query.error)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} {...(compact && { compact })} />
  return loading ?? <Skeleton />
}
