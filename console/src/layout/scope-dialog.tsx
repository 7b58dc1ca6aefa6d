import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { dismissScopeRequest, setScope, useScopeRequest } from '../scope.ts'
import { useIdentity } from '../session.tsx'
import { Button } from '../ui/forms/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** A link must not change the org by itself, so the person confirms the switch. */
export const ScopeDialog = () => {
  const { t } = useLingui()
  const { session, me } = useIdentity()
  const navigate = useNavigate()
  const asked = useScopeRequest()
  const isHere = asked?.orgId === me.org.id
  // A tab without a chosen org can already be in the org that the link names.
  useEffect(() => {
    if (!asked || !isHere) return
    setScope(asked)
    dismissScopeRequest()
  }, [asked, isHere])
  if (asked === undefined || isHere) return null
  const org = session.orgs.find(({ id }) => id === asked.orgId)
  const stay = (): void => {
    dismissScopeRequest()
    void navigate('/')
  }
  if (!org) {
    return (
      <Dialog
        open
        onClose={stay}
        title={t`This link belongs to another organization`}
        description={t`You are not a member of that organization, or your sign-in is limited to ${me.org.name}.`}
        footer={
          <Button variant="primary" onClick={stay}>
            <Trans>Stay in {me.org.name}</Trans>
          </Button>
        }
      />
    )
  }
  return (
    <Dialog
      open
      onClose={stay}
      title={t`Switch to ${org.name}?`}
      description={t`The link you opened belongs to ${org.name}. You are currently in ${me.org.name}.`}
      footer={
        <>
          <Button onClick={stay}>
            <Trans>Stay in {me.org.name}</Trans>
          </Button>
          <Button
            variant="primary"
            onClick={() => {
              setScope({ orgId: org.id, workspaceId: asked.workspaceId })
              dismissScopeRequest()
            }}
          >
            <Trans>Switch</Trans>
          </Button>
        </>
      }
    />
  )
}
