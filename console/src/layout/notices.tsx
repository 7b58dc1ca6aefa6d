import { Plural, Trans } from '@lingui/react/macro'
import { Suspense, useState } from 'react'
import { formatDateTime } from '../format.ts'
import { InvitationNotice, useInvitations } from '../invitations.ts'
import { useIdentity } from '../session.tsx'
import { Button } from '../ui/forms/button.tsx'
import { Notice } from '../ui/notice.tsx'

const seenKey = 'atrium.failed-sign-ins-seen'

const readSeen = (): string | null => {
  try {
    return localStorage.getItem(seenKey)
  } catch {
    return null
  }
}

/** Failed attempts to sign in as this person since their last sign-in. */
const FailedSignIns = () => {
  const { failedSignIns } = useIdentity().session
  const [seen, setSeen] = useState(readSeen)
  if (failedSignIns === null || failedSignIns.lastAt === seen) return null
  const { count, lastAt, addresses } = failedSignIns
  const dismiss = (): void => {
    setSeen(lastAt)
    try {
      localStorage.setItem(seenKey, lastAt)
    } catch {
      // Without storage the notice returns after a reload.
    }
  }
  return (
    <Notice tone="warn">
      <span>
        <Trans>
          <Plural value={count} one="# failed sign-in attempt" other="# failed sign-in attempts" /> since your last
          sign-in, most recently {formatDateTime(lastAt)} from {addresses.join(', ')}. If this was not you, change your
          password and turn on two-factor authentication.
        </Trans>
      </span>{' '}
      <Button small onClick={dismiss}>
        <Trans>Dismiss</Trans>
      </Button>
    </Notice>
  )
}

/** Notices above every page. */
export const Notices = () => {
  const invitations = useInvitations()
  return (
    <>
      <FailedSignIns />
      <Suspense>
        {invitations.map((invitation) => (
          <InvitationNotice key={invitation.id} invitation={invitation} />
        ))}
      </Suspense>
    </>
  )
}
