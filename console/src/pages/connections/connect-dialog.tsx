import type { Connection, ConnectorEntry } from 'atrium-sdk'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './connections.module.css'
import { CredentialFields, givenOf, missingField } from './credential-fields.tsx'
import { openProvider, refreshConnections } from './oauth-window.ts'
import { ToolList } from './tool-list.tsx'

const words = { oauth: 'Continue at', api_key: 'Connect', none: 'Connect' } as const

const start = async (connector: ConnectorEntry, label: string) => {
  const body = { connectorSlug: connector.slug, ...(label !== '' && { label }) }
  return api.call('POST /connections', { body })
}

const useConnect = (connector: ConnectorEntry, taken: readonly (string | null)[], onDone: () => void) => {
  const [label, setLabel] = useState('')
  const [given, setGiven] = useState({})
  const [isAway, setAway] = useState(false)
  const name = label.trim()
  const isTaken = taken.includes(name === '' ? null : name)
  const problem = isTaken
    ? name === ''
      ? `You have a connection to ${connector.name} already. A label tells this one apart.`
      : 'Another connection has this label.'
    : missingField(connector, given)
  const form = useSubmit(async () => {
    if (connector.authType === 'oauth') {
      await openProvider(async () => {
        const { oauthUrl } = await start(connector, name)
        if (oauthUrl === null) throw new Error(`${connector.name} is connected already.`)
        return oauthUrl
      })
      setAway(true)
      await refreshConnections()
      return
    }
    const { connection } = await start(connector, name)
    if (connector.authType === 'api_key') {
      const body = { credentials: givenOf(given) }
      await api.call('POST /connections/:id/credentials', { params: { id: connection.id }, body })
    }
    await refreshConnections()
    toast.done(`${connector.name} is connected`)
    onDone()
  })
  return { label, setLabel, given, setGiven, isTaken, problem, isAway, form }
}

/** Connects something anew: the provider's window, a form for keys, or one button. */
export const ConnectDialog = ({
  connector,
  connections,
  onClose,
}: {
  connector: ConnectorEntry
  connections: readonly Connection[]
  onClose: () => void
}) => {
  const live = connections.filter((one) => one.connectorSlug === connector.slug && one.status === 'active')
  const taken = live.map(({ label }) => label)
  const { label, setLabel, given, setGiven, isTaken, problem, isAway, form } = useConnect(connector, taken, onClose)
  const isOAuth = connector.authType === 'oauth'
  const unavailable = connector.availability !== 'available' && (connector.availabilityReason ?? 'It is not available.')
  return (
    <FormDialog
      onClose={onClose}
      title={`Connect ${connector.name}`}
      description={connector.description}
      form={form}
      action={isOAuth ? `${words.oauth} ${connector.name}` : words[connector.authType]}
      icon={isOAuth ? <ExternalLink /> : undefined}
      disabledReason={unavailable || problem}
      cancel={isAway ? 'Close' : 'Cancel'}
    >
      {unavailable !== false && <Notice tone="warn">{unavailable}</Notice>}
      {isAway && (
        <Notice tone="info">
          Go on in the window of {connector.name}. When it closes, the connection shows up here by itself.
        </Notice>
      )}
      <CredentialFields connector={connector} given={given} onChange={setGiven} />
      <TextField
        label="Label"
        optional={taken.length === 0}
        maxLength={100}
        value={label}
        error={isTaken ? problem : undefined}
        placeholder="Work account"
        hint="Tells several connections to the same service apart."
        onChange={({ target }) => setLabel(target.value)}
      />
      {connector.tools.length > 0 && (
        <details className={styles['details']}>
          <summary>What agents can do with it ({connector.tools.length})</summary>
          <ToolList tools={connector.tools} />
        </details>
      )}
    </FormDialog>
  )
}
