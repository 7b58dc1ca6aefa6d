import { t } from '@lingui/core/macro'
import type { Connection, ConnectorEntry } from '@atrium/client'
import { ExternalLink, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { CredentialFields, missingField, submitCredentials } from './credential-fields.tsx'
import { openProvider, refreshConnections } from './oauth-window.ts'
import { SignInNotice } from './sign-in-notice.tsx'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && t`You do not have permission to change connections.`

const KeyDialog = ({
  connection,
  connector,
  onClose,
}: {
  connection: Connection
  connector: ConnectorEntry
  onClose: () => void
}) => {
  const [credentials, setCredentials] = useState({})
  const [signInUrl, setSignInUrl] = useState<string>()
  const problem = missingField(connector, credentials)
  const form = useSubmit(async () => {
    if (signInUrl !== undefined) {
      await openProvider(async () => signInUrl)
      onClose()
      return
    }
    const oauthUrl = await submitCredentials(connection.id, credentials)
    if (oauthUrl !== undefined) {
      setSignInUrl(oauthUrl)
      return
    }
    await refreshConnections()
    toast.done(t`${connector.name} connected`)
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Reconnect ${connector.name}`}
      description={t`The new credentials replace the stored ones.`}
      form={form}
      action={signInUrl === undefined ? t`Reconnect` : t`Continue to ${new URL(signInUrl).host}`}
      disabledReason={problem}
    >
      {signInUrl === undefined ? (
        <CredentialFields connector={connector} credentials={credentials} onChange={setCredentials} />
      ) : (
        <SignInNotice url={signInUrl} />
      )}
    </FormDialog>
  )
}

/** Finishes a pending connection or renews the credentials of an existing one. */
export const Reconnect = ({
  connection,
  connector,
  small = false,
}: {
  connection: Connection
  connector: ConnectorEntry | undefined
  small?: boolean
}) => {
  const { can } = useIdentity()
  const [asking, setAsking] = useState(false)
  const isOAuth = connector?.authType === 'oauth'
  const { busy, submit } = useSubmit(() =>
    openProvider(async () => {
      const { oauthUrl } = await api.call('GET /connections/:id/oauth', { params: { id: connection.id } })
      return oauthUrl
    }).catch((error: unknown) => toast.failed(t`Could not reconnect`, error)),
  )
  if (!connector || connector.authType === 'none') return null
  const reason = writeReason(can('connections:write'))
  const label = connection.status === 'pending' ? t`Finish setup` : isOAuth ? t`Reconnect` : t`Replace credentials`
  return (
    <>
      <Button
        small={small}
        icon={isOAuth ? <ExternalLink /> : <KeyRound />}
        busy={busy}
        disabledReason={reason}
        onClick={isOAuth ? submit : () => setAsking(true)}
      >
        {label}
      </Button>
      {asking && <KeyDialog connection={connection} connector={connector} onClose={() => setAsking(false)} />}
    </>
  )
}
