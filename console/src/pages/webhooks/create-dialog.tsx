import { t } from '@lingui/core/macro'
import type { WebhookWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../api.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { SecretDialog } from './secret-dialog.tsx'
import { sourceName, sources } from './sources.ts'
import { bodyOf, emptyWebhook, problemOf, WebhookFields } from './webhook-fields.tsx'

/** Credentials that some providers generate, instead of the secret that Atrium generates. */
export interface ProviderCredentials {
  secret: string
  publicKey: string
}

export const emptyCredentials: ProviderCredentials = { secret: '', publicKey: '' }

export const credentialsBody = ({ secret, publicKey }: ProviderCredentials) => ({
  ...(secret.trim() !== '' && { secret: secret.trim() }),
  ...(publicKey.trim() !== '' && { publicKey: publicKey.trim() }),
})

export const CredentialFields = ({
  source,
  credentials,
  onChange,
}: {
  source: string
  credentials: ProviderCredentials
  onChange: (credentials: ProviderCredentials) => void
}) => {
  const { providesSecret = false } = sources.find(({ slug }) => slug === source) ?? {}
  if (!providesSecret) return null
  if (source === 'discord')
    return (
      <TextField
        label={t`Application public key`}
        value={credentials.publicKey}
        hint={t`Shown on the General Information page of the Discord application.`}
        onChange={({ target }) => onChange({ ...credentials, publicKey: target.value })}
      />
    )
  return (
    <TextField
      label={t`Signing secret from ${sourceName(source)}`}
      optional
      type="password"
      autoComplete="off"
      value={credentials.secret}
      hint={t`Leave empty to generate one. You can replace it later by rotating the secret.`}
      onChange={({ target }) => onChange({ ...credentials, secret: target.value })}
    />
  )
}

export const CreateDialog = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(emptyWebhook)
  const [credentials, setCredentials] = useState(emptyCredentials)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const problem = problemOf(draft)
  const form = useSubmit(async () => {
    setCreated(await api.call('POST /webhooks', { body: { ...bodyOf(draft), ...credentialsBody(credentials) } }))
    await refresh('GET /webhooks')
  })
  if (created)
    return (
      <SecretDialog
        webhook={created}
        title={t`Webhook “${created.name}” created`}
        onClose={() => void navigate(`/webhooks/${created.id}`, { replace: true })}
      />
    )
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Create webhook`}
      form={form}
      action={t`Create webhook`}
      disabledReason={problem}
    >
      <WebhookFields draft={draft} change={(patch) => setDraft((known) => ({ ...known, ...patch }))} />
      <CredentialFields source={draft.source} credentials={credentials} onChange={setCredentials} />
    </FormDialog>
  )
}
