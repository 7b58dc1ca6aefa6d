import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { api, queryClient } from '../api.ts'
import type { Invitation } from '../invitations.ts'
import { formatWord } from '../words.ts'
import { Button } from '../ui/forms/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { toast } from '../ui/toast.tsx'
import { useSubmit } from '../ui/forms/use-submit.ts'

/** The name is chosen by people whom the reader may not know, and stands above every page. */
const shortOf = (name: string): string => (name.length > 60 ? `${name.slice(0, 59)}…` : name)

export const InvitationNotice = ({ invitation }: { invitation: Invitation }) => {
  const { id, org, role, invitedBy } = invitation
  const params = { id }
  const accept = useSubmit(async () => {
    await api.call('POST /me/invitations/:id/accept', { params })
    toast.done(t`You joined ${shortOf(org.name)}`)
    // Membership changes permissions and visible data.
    await queryClient.invalidateQueries()
  })
  const decline = useSubmit(async () => {
    await api.call('POST /me/invitations/:id/decline', { params })
    toast.done(t`Invitation to ${shortOf(org.name)} declined`)
    // Membership changes permissions and visible data.
    await queryClient.invalidateQueries()
  })
  return (
    <>
      <Notice tone="info">
        <span>
          <Trans>
            {invitedBy} invited you to join <strong>{shortOf(org.name)}</strong>. Your role will be: {formatWord(role)}.
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
