import { useEffect } from 'react'
import { queryClient, refresh } from '../api.ts'
import { useScope } from '../scope.ts'
import { createInvalidation } from './invalidation.ts'
import { followEvents } from './stream.ts'

/** Keeps the shown data up to date with the events of the org of this tab. */
export const useLiveEvents = (isEnabled: boolean): void => {
  const { orgId, workspaceId } = useScope()
  useEffect(() => {
    if (!isEnabled) return undefined
    const invalidation = createInvalidation()
    return followEvents(
      { orgId, workspaceId },
      {
        onEvent: invalidation.byEvent,
        onGap: invalidation.all,
        onRejected: () =>
          void Promise.all([queryClient.invalidateQueries({ queryKey: ['session'] }), refresh('GET /me')]),
      },
    )
  }, [isEnabled, orgId, workspaceId])
}
