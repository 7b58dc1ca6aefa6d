import type { UseQueryResult } from '@tanstack/react-query'
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
  if (query.data !== undefined) return children(query.data)
  if (query.error)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} {...(compact && { compact })} />
  return loading ?? <Skeleton />
}
