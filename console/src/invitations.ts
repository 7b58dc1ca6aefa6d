import { useQuery } from '@tanstack/react-query'
import type { Data } from '@atrium/client'
import { lazy } from 'react'
import { api } from './api.ts'
import { importWithRetry } from './load-page.ts'

export type Invitation = Data<'GET /me/invitations'>['items'][number]

/** Invitations of the person, independent of the org of the tab. */
export const useInvitations = (): Invitation[] => {
  const { data } = useQuery({
    queryKey: ['GET /me/invitations'],
    queryFn: ({ signal }) => api.call('GET /me/invitations', { signal }),
    staleTime: 60_000,
  })
  return data?.items ?? []
}

// Most people have none.
export const InvitationNotice = lazy(async () => ({
  default: (await importWithRetry(() => import('./layout/invitation-notice.tsx'))).InvitationNotice,
}))
