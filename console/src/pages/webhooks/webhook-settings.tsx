import type { Webhook, WebhookWithSecret } from 'atrium-sdk'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { givenBody, GivenFields, noneGiven } from './create-dialog.tsx'
import { SecretDialog, TestCommand } from './secret-dialog.tsx'
import { bodyOf, problemOf, WebhookFields } from './webhook-fields.tsx'
import type { WebhookDraft } from './webhook-fields.tsx'
import { forwardsTo } from './webhook-list.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const draftOf = (webhook: Webhook): WebhookDraft => ({
  name: webhook.name,
  source: webhook.source,
  description: webhook.description ?? '',
  url: forwardsTo(webhook) ?? '',
  events: webhook.events.join(', '),
})

const General = ({ webhook, reason }: { webhook: Webhook; reason: string | false }) => {
  const [draft, setDraft] = useState(() => draftOf(webhook))
  const isChanged = JSON.stringify(bodyOf(draft)) !== JSON.stringify(bodyOf(draftOf(webhook)))
  const problem = reason || problemOf(draft) || (!isChanged && 'Nothing is changed.')
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    setDraft(draftOf(await api.call('PATCH /webhooks/:id', { params: { id: webhook.id }, body: bodyOf(draft) })))
    await refresh('GET /webhooks', 'GET /webhooks/:id')
    toast.done('Saved')
  })
  return (
    <Section title="General">
      <Form className={styles['form']} onSubmit={submit}>
        <WebhookFields draft={draft} change={(patch) => setDraft((known) => ({ ...known, ...patch }))} />
        <Notice error={error} />
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}

const Secret = ({ webhook, reason }: { webhook: Webhook; reason: string | false }) => {
  const [asking, setAsking] = useState(false)
  const [given, setGiven] = useState(noneGiven)
  const [rotated, setRotated] = useState<WebhookWithSecret>()
  const form = useSubmit(async () => {
    setRotated(await api.call('POST /webhooks/:id/rotate', { params: { id: webhook.id }, body: givenBody(given) }))
    setAsking(false)
    setGiven(noneGiven)
    await refresh('GET /webhooks/:id')
  })
  return (
    <Section title="Signing secret" description="It is kept encrypted and cannot be shown again, only replaced.">
      <div className={styles['stack']}>
        <h3>Send a signed test from a shell</h3>
        <TestCommand webhook={webhook} />
      </div>
      <div>
        <Button disabledReason={reason} onClick={() => setAsking(true)}>
          Rotate the secret
        </Button>
      </div>
      <FormDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Rotate the secret?"
        description="What is signed with the old one is refused from this moment on, until the sender knows the new one."
        form={form}
        action="Rotate the secret"
        variant="danger"
      >
        <GivenFields source={webhook.source} given={given} onChange={setGiven} />
      </FormDialog>
      {rotated && <SecretDialog webhook={rotated} title="The new secret" onClose={() => setRotated(undefined)} />}
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
    toast.done(`“${webhook.name}” is deleted`)
  })
  return (
    <Section title="Delete">
      <div>
        <Button variant="danger" disabledReason={reason} onClick={() => setAsking(true)}>
          Delete this webhook
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete “${webhook.name}”?`}
        description="Its address stops working, and its events and deliveries go with it. This cannot be undone."
        form={form}
        action="Delete the webhook"
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
