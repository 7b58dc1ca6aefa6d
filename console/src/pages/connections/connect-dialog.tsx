import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Connection, ConnectorEntry } from '@atrium/client'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { apiText } from '../../i18n/language.ts'
import { api } from '../../api.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { unavailableText } from './catalog.tsx'
import styles from './connections.module.css'
import { CredentialFields, missingField, submitCredentials } from './credential-fields.tsx'
import { SignInNotice } from './sign-in-notice.tsx'
import { openProvider, refreshConnections } from './oauth-window.ts'
import { ToolList } from './tool-list.tsx'

const start = async (connector: ConnectorEntry, label: string) => {
  const body = { connectorSlug: connector.slug, ...(label !== '' && { label }) }
  return api.call('POST /connections', { body })
}

const useConnect = (connector: ConnectorEntry, taken: readonly (string | null)[], onDone: () => void) => {
  const [label, setLabel] = useState('')
  const [credentials, setCredentials] = useState({})
  const [isWindowOpen, setWindowOpen] = useState(false)
  const [signInUrl, setSignInUrl] = useState<string>()
  const name = label.trim()
  const isTaken = taken.includes(name === '' ? null : name)
  const problem = isTaken
    ? name === ''
      ? t`You already have a connection to ${connector.name}. Enter a label for this one.`
      : t`This label is already in use.`
    : missingField(connector, credentials)
  const form = useSubmit(async () => {
    if (connector.authType === 'oauth') {
      await openProvider(async () => {
        const { oauthUrl } = await start(connector, name)
        if (oauthUrl === null) throw new Error(t`${connector.name} is already connected.`)
        return oauthUrl
      })
      setWindowOpen(true)
      await refreshConnections()
      return
    }
    if (signInUrl !== undefined) {
      await openProvider(async () => signInUrl)
      setWindowOpen(true)
      return
    }
    const { connection } = await start(connector, name)
    if (connector.authType === 'api_key') {
      const oauthUrl = await submitCredentials(connection.id, credentials)
      if (oauthUrl !== undefined) {
        setSignInUrl(oauthUrl)
        return
      }
    }
    await refreshConnections()
    toast.done(t`${connector.name} connected`)
    onDone()
  })
  return { label, setLabel, credentials, setCredentials, isTaken, problem, isWindowOpen, signInUrl, form }
}

/** Creates a connection: through the provider's OAuth window, with credentials, or without any. */
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
  const { label, setLabel, credentials, setCredentials, isTaken, problem, isWindowOpen, signInUrl, form } = useConnect(
    connector,
    taken,
    onClose,
  )
  const isOAuth = connector.authType === 'oauth' || signInUrl !== undefined
  const to = signInUrl === undefined ? connector.name : new URL(signInUrl).host
  const unavailable = connector.availability !== 'available' && unavailableText(connector)
  return (
    <FormDialog
      onClose={onClose}
      title={t`Connect ${connector.name}`}
      description={apiText(connector.description)}
      form={form}
      action={isOAuth ? t`Continue to ${to}` : t`Connect`}
      icon={isOAuth ? <ExternalLink /> : undefined}
      disabledReason={unavailable || problem}
      cancel={isWindowOpen ? t`Close` : t`Cancel`}
    >
      {unavailable !== false && <Notice tone="warn">{unavailable}</Notice>}
      {isWindowOpen && (
        <Notice tone="info">
          <Trans>Continue in the {to} window. The connection appears here when it closes.</Trans>
        </Notice>
      )}
      {signInUrl !== undefined && !isWindowOpen && <SignInNotice url={signInUrl} />}
      {signInUrl === undefined && (
        <CredentialFields connector={connector} credentials={credentials} onChange={setCredentials} />
      )}
      <TextField
        label={t`Label`}
        field="label"
        optional={taken.length === 0}
        maxLength={100}
        value={label}
        error={isTaken ? problem : undefined}
        placeholder={t`Work account`}
        hint={t`Distinguishes several connections to the same service.`}
        onChange={({ target }) => setLabel(target.value)}
      />
      {connector.tools.length > 0 && (
        <details className={styles['details']}>
          <summary>
            <Trans>Tools for agents ({connector.tools.length})</Trans>
          </summary>
          <ToolList tools={connector.tools} />
        </details>
      )}
    </FormDialog>
  )
}
