import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Webhook, WebhookWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, refresh } from '../../api.ts'
import { changesOf, isEmpty, useDraft } from '../../draft.ts'
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
  const { draft, change, saved } = useDraft(webhook, draftOf)
  const body = changesOf(bodyOf(draft), bodyOf(draftOf(webhook)))
  const problem = reason || problemOf(draft) || (isEmpty(body) && t`No changes to save.`)
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    saved(draftOf(await api.call('PATCH /webhooks/:id', { params: { id: webhook.id }, body })))
    await refresh('GET /webhooks', 'GET /webhooks/:id')
    toast.done(t`Saved`)
  })
  return (
    <Section title={t`General`}>
      <Form className={styles['form']} error={error} onSubmit={submit}>
        <WebhookFields draft={draft} change={change} />
        <FormError />
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            <Trans>Save changes</Trans>
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
      title={t`Signing secret`}
      description={t`The secret is stored encrypted and cannot be shown again. Rotate it to get a new one.`}
    >
      <div className={styles['stack']}>
        <h3>
          <Trans>Send a signed test event</Trans>
        </h3>
        <TestCommand webhook={webhook} />
      </div>
      <div>
        <Button disabledReason={reason} onClick={() => setAsking(true)}>
          <Trans>Rotate secret</Trans>
        </Button>
      </div>
      <FormDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Rotate signing secret?`}
        description={t`Events signed with the old secret are rejected immediately. Update the secret at the sender afterwards.`}
        form={form}
        action={t`Rotate secret`}
        variant="danger"
      >
        <CredentialFields source={webhook.source} credentials={credentials} onChange={setCredentials} />
      </FormDialog>
      {rotated && (
        <SecretDialog webhook={rotated} title={t`New signing secret`} onClose={() => setRotated(undefined)} />
      )}
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
    toast.done(t`Webhook “${webhook.name}” deleted`)
  })
  return (
    <Section title={t`Delete webhook`}>
      <div>
        <Button variant="danger" disabledReason={reason} onClick={() => setAsking(true)}>
          <Trans>Delete webhook</Trans>
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Delete “${webhook.name}”?`}
        description={t`Its endpoint URL stops working, and its events and deliveries are deleted. This cannot be undone.`}
        form={form}
        action={t`Delete webhook`}
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
