import type { Webhook, WebhookWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, refresh } from '../../api.ts'
import { useDraft } from '../../draft.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { credentialsBody, CredentialFields, emptyCredentials } from './create-dialog.tsx'
import { SecretDialog, TestCommand } from './secret-dialog.tsx'
import { bodyOf, problemOf, WebhookFields } from './webhook-fields.tsx'
import type { WebhookDraft } from './webhook-fields.tsx'
import { destinationOf } from './webhook-list.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const draftOf = (webhook: Webhook): WebhookDraft => ({
  name: webhook.name,
  source: webhook.source,
  description: webhook.description ?? '',
  url: destinationOf(webhook) ?? '',
  events: webhook.events.join(', '),
})

const General = ({ webhook, reason }: { webhook: Webhook; reason: string | false }) => {
  const { draft, change, reset } = useDraft(webhook, draftOf)
  const isChanged = JSON.stringify(bodyOf(draft)) !== JSON.stringify(bodyOf(draftOf(webhook)))
  const problem = reason || problemOf(draft) || (!isChanged && 'No changes to save.')
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    reset(draftOf(await api.call('PATCH /webhooks/:id', { params: { id: webhook.id }, body: bodyOf(draft) })))
    await refresh('GET /webhooks', 'GET /webhooks/:id')
    toast.done('Saved')
  })
  return (
    <Section title="General">
      <Form className={styles['form']} error={error} onSubmit={submit}>
        <WebhookFields draft={draft} change={change} />
        <FormError />
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            Save changes
          </Button>
        </div>
      </Form>
    </Section>
  )
}

const Secret = ({ webhook, reason }: { webhook: Webhook; reason: string | false }) => {
  const [asking, setAsking] = useState(false)
  const [credentials, setCredentials] = useState(emptyCredentials)
  const [rotated, setRotated] = useState<WebhookWithSecret>()
  const form = useSubmit(async () => {
    setRotated(
      await api.call('POST /webhooks/:id/rotate', { params: { id: webhook.id }, body: credentialsBody(credentials) }),
    )
    setAsking(false)
    setCredentials(emptyCredentials)
    await refresh('GET /webhooks/:id')
  })
  return (
    <Section
      title="Signing secret"
      description="The secret is stored encrypted and cannot be shown again. Rotate it to get a new one."
    >
      <div className={styles['stack']}>
        <h3>Send a signed test event</h3>
        <TestCommand webhook={webhook} />
      </div>
      <div>
        <Button disabledReason={reason} onClick={() => setAsking(true)}>
          Rotate secret
        </Button>
      </div>
      <FormDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Rotate signing secret?"
        description="Events signed with the old secret are rejected immediately. Update the secret at the sender afterwards."
        form={form}
        action="Rotate secret"
        variant="danger"
      >
        <CredentialFields source={webhook.source} credentials={credentials} onChange={setCredentials} />
      </FormDialog>
      {rotated && <SecretDialog webhook={rotated} title="New signing secret" onClose={() => setRotated(undefined)} />}
    </Section>
  )
}

const Delete = ({ webhook, reason }: { webhook: Webhook; reason: string | false }) => {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    await api.call('DELETE /webhooks/:id', { params: { id: webhook.id } })
    await navigate('/webhooks', { replace: true })
    await refresh('GET /webhooks', 'GET /webhooks/events')
    toast.done(`Webhook “${webhook.name}” deleted`)
  })
  return (
    <Section title="Delete webhook">
      <div>
        <Button variant="danger" disabledReason={reason} onClick={() => setAsking(true)}>
          Delete webhook
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete “${webhook.name}”?`}
        description="Its endpoint URL stops working, and its events and deliveries are deleted. This cannot be undone."
        form={form}
        action="Delete webhook"
      />
    </Section>
  )
}

export const WebhookSettings = () => {
  const webhook = useOutletContext<Webhook>()
  const { can } = useIdentity()
  const reason = writeReason(can('webhooks:write'))
  return (
    <>
      <General webhook={webhook} reason={reason} />
      <Secret webhook={webhook} reason={reason} />
      <Delete webhook={webhook} reason={reason} />
    </>
  )
}
