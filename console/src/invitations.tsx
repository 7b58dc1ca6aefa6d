import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Data } from '@atrium/client'
import type { ReactNode } from 'react'
import { api, queryClient } from './api.ts'
import { formatWord } from './words.ts'
import { Button } from './ui/forms/button.tsx'
import { Notice } from './ui/notice.tsx'
import { toast } from './ui/toast.tsx'
import { useSubmit } from './ui/forms/use-submit.ts'

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

export const InvitationNotice = ({ invitation }: { invitation: Invitation }): ReactNode => {
  const { id, org, role, invitedBy } = invitation
  const params = { id }
  const accept = useSubmit(async () => {
    await api.call('POST /me/invitations/:id/accept', { params })
    toast.done(t`You joined ${org.name}`)
    // Membership changes permissions and visible data.
    await queryClient.invalidateQueries()
  })
  const decline = useSubmit(async () => {
    await api.call('POST /me/invitations/:id/decline', { params })
    toast.done(t`Invitation to ${org.name} declined`)
    // Membership changes permissions and visible data.
    await queryClient.invalidateQueries()
  })
  return (
    <>
      <Notice tone="info">
        <span>
          <Trans>
            {invitedBy} invited you to join <strong>{org.name}</strong>. Your role will be: {formatWord(role)}.
          </Trans>
        </span>{' '}
        <Button small variant="primary" busy={accept.busy} onClick={accept.submit}>
          <Trans>Accept</Trans>
        </Button>{' '}
        <Button small busy={decline.busy} onClick={decline.submit}>
          <Trans>Decline</Trans>
        </Button>
      </Notice>
      <Notice error={accept.error ?? decline.error} />
    </>
  )
}
