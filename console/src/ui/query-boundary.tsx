import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from './error-state.tsx'
import { Skeleton } from './skeleton.tsx'

/** Shows what a query has: the content, or the state that it is in instead. */
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
  if (query.data !== undefined) return children(query.data)
  if (query.error)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} {...(compact && { compact })} />
  return loading ?? <Skeleton />
}
