import type { WebhookWithSecret } from 'atrium-sdk'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../api.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { SecretDialog } from './secret-dialog.tsx'
import { sourceName, sources } from './sources.ts'
import { bodyOf, emptyWebhook, problemOf, WebhookFields } from './webhook-fields.tsx'

/** What some providers make themselves and we are told. */
export interface Given {
  secret: string
  publicKey: string
}

export const noneGiven: Given = { secret: '', publicKey: '' }

export const givenBody = ({ secret, publicKey }: Given) => ({
  ...(secret.trim() !== '' && { secret: secret.trim() }),
  ...(publicKey.trim() !== '' && { publicKey: publicKey.trim() }),
})

export const GivenFields = ({
  source,
  given,
  onChange,
}: {
  source: string
  given: Given
  onChange: (given: Given) => void
}) => {
  const { givesSecret = false } = sources.find(({ slug }) => slug === source) ?? {}
  if (!givesSecret) return null
  if (source === 'discord')
    return (
      <TextField
        label="Public key of the application"
        value={given.publicKey}
        hint="Discord shows it on the general page of the application."
        onChange={({ target }) => onChange({ ...given, publicKey: target.value })}
      />
    )
  return (
    <TextField
      label={`Secret that ${sourceName(source)} gave`}
      optional
      type="password"
      autoComplete="off"
      value={given.secret}
      hint="Left empty, one is made. It can be put in later by rotating."
      onChange={({ target }) => onChange({ ...given, secret: target.value })}
    />
  )
}

export const CreateDialog = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(emptyWebhook)
  const [given, setGiven] = useState(noneGiven)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const problem = problemOf(draft)
  const form = useSubmit(async () => {
    setCreated(await api.call('POST /webhooks', { body: { ...bodyOf(draft), ...givenBody(given) } }))
    await refresh('GET /webhooks')
  })
  if (created)
    return (
      <SecretDialog
        webhook={created}
        title={`“${created.name}” is ready`}
        onClose={() => void navigate(`/webhooks/${created.id}`, { replace: true })}
      />
    )
  return (
    <FormDialog wide onClose={onClose} title="New webhook" form={form} action="Create webhook" disabledReason={problem}>
      <WebhookFields draft={draft} change={(patch) => setDraft((known) => ({ ...known, ...patch }))} />
      <GivenFields source={draft.source} given={given} onChange={setGiven} />
    </FormDialog>
  )
}
