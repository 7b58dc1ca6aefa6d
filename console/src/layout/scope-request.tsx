import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { dropScopeRequest, setScope, useScopeRequest } from '../scope.ts'
import { useIdentity } from '../session.tsx'
import { Button } from '../ui/forms/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** A link that names another org is a stranger's wish: the person decides before this tab changes its org. */
export const ScopeRequest = () => {
  const { session, me } = useIdentity()
  const navigate = useNavigate()
  const asked = useScopeRequest()
  const isHere = asked?.orgId === me.org.id
  // A tab that had chosen no org yet may be in the one that the link names.
  useEffect(() => {
    if (!asked || !isHere) return
    setScope(asked)
    dropScopeRequest()
  }, [asked, isHere])
  if (asked === undefined || isHere) return null
  const org = session.orgs.find(({ id }) => id === asked.orgId)
  const stay = (): void => {
    dropScopeRequest()
    void navigate('/')
  }
  if (!org) {
    return (
      <Dialog
        open
        onClose={stay}
        title="This link is for another organisation"
        description={`You are not a member of it, or you signed in for ${me.org.name} only.`}
        footer={
          <Button variant="primary" onClick={stay}>
            Stay in {me.org.name}
          </Button>
        }
      />
    )
  }
  return (
    <Dialog
      open
      onClose={stay}
      title={`Switch to ${org.name}?`}
      description={`The link that you opened is for ${org.name}. You are in ${me.org.name} now.`}
      footer={
        <>
          <Button onClick={stay}>Stay in {me.org.name}</Button>
          <Button
            variant="primary"
            onClick={() => {
              setScope({ orgId: org.id, workspaceId: asked.workspaceId })
              dropScopeRequest()
            }}
          >
            Switch
          </Button>
        </>
      }
    />
  )
}
