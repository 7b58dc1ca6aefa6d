import type { Connection, ConnectorEntry } from 'atrium-sdk'
import { ExternalLink, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { CredentialFields, givenOf, missingField } from './credential-fields.tsx'
import { openProvider, refreshConnections } from './oauth-window.ts'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && 'Your role may look at connections, not change them.'

const KeyDialog = ({
  connection,
  connector,
  onClose,
}: {
  connection: Connection
  connector: ConnectorEntry
  onClose: () => void
}) => {
  const [given, setGiven] = useState({})
  const problem = missingField(connector, given)
  const form = useSubmit(async () => {
    const body = { credentials: givenOf(given) }
    await api.call('POST /connections/:id/credentials', { params: { id: connection.id }, body })
    await refreshConnections()
    toast.done(`${connector.name} is connected`)
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={`Reconnect ${connector.name}`}
      description="What you fill in replaces what was stored."
      form={form}
      action="Reconnect"
      disabledReason={problem}
    >
      <CredentialFields connector={connector} given={given} onChange={setGiven} />
    </FormDialog>
  )
}

/** Completes a connection that was left in the middle, or repairs one that broke. */
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
    }).catch((error: unknown) => toast.failed('It was not reconnected', error)),
  )
  if (!connector || connector.authType === 'none') return null
  const reason = writeReason(can('connections:write'))
  const word = connection.status === 'pending' ? 'Finish' : isOAuth ? 'Reconnect' : 'Replace the key'
  return (
    <>
      <Button
        small={small}
        icon={isOAuth ? <ExternalLink /> : <KeyRound />}
        busy={busy}
        disabledReason={reason}
        onClick={isOAuth ? submit : () => setAsking(true)}
      >
        {word}
      </Button>
      {asking && <KeyDialog connection={connection} connector={connector} onClose={() => setAsking(false)} />}
    </>
  )
}
