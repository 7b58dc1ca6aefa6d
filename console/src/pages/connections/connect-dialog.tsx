import type { Connection, ConnectorEntry } from 'atrium-sdk'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/use-submit.ts'
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
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== undefined) return
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
  return { label, setLabel, given, setGiven, isTaken, problem, isAway, busy, error, submit }
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
  const form = useConnect(connector, taken, onClose)
  const isOAuth = connector.authType === 'oauth'
  const unavailable = connector.availability !== 'available' && (connector.availabilityReason ?? 'It is not available.')
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Connect ${connector.name}`}
      description={connector.description}
      onSubmit={form.submit}
      footer={
        <>
          <Button onClick={onClose}>{form.isAway ? 'Close' : 'Cancel'}</Button>
          <Button
            variant="primary"
            type="submit"
            icon={isOAuth ? <ExternalLink /> : undefined}
            busy={form.busy}
            disabledReason={unavailable || form.problem}
          >
            {isOAuth ? `${words.oauth} ${connector.name}` : words[connector.authType]}
          </Button>
        </>
      }
    >
      {unavailable !== false && <Notice tone="warn">{unavailable}</Notice>}
      <Notice error={form.error} />
      {form.isAway && (
        <Notice tone="info">
          Go on in the window of {connector.name}. When it closes, the connection shows up here by itself.
        </Notice>
      )}
      <CredentialFields connector={connector} given={form.given} onChange={form.setGiven} />
      <TextField
        label="Label"
        optional={taken.length === 0}
        maxLength={100}
        value={form.label}
        error={form.isTaken ? form.problem : undefined}
        placeholder="Work account"
        hint="Tells several connections to the same service apart."
        onChange={({ target }) => form.setLabel(target.value)}
      />
      {connector.tools.length > 0 && (
        <details className={styles['details']}>
          <summary>What agents can do with it ({connector.tools.length})</summary>
          <ToolList tools={connector.tools} />
        </details>
      )}
    </Dialog>
  )
}
