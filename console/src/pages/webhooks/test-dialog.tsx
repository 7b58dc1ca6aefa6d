import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Webhook } from '@atrium/client'
import { useId, useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../api.ts'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { TextArea, TextField } from '../../ui/forms/field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { toast } from '../../ui/toast.tsx'
import { destinationOf } from './webhook-list.tsx'
import styles from './webhooks.module.css'

const exampleOf = (type: string): string => JSON.stringify({ type, message: t`Hello from Atrium` }, null, 2)

const parse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** Sends an event with a type and a payload, which is stored and forwarded like a received one. */
export const TestDialog = ({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) => {
  const navigate = useNavigate()
  const listId = useId()
  // Those of the allowlist that name one type.
  const known = webhook.events.filter((type) => !type.includes('*'))
  const [type, setType] = useState(known[0] ?? 'test.ping')
  const [written, setWritten] = useState<string>()
  const payload = written ?? exampleOf(type)
  const parsed = parse(payload)
  const problem = type.trim() === '' ? t`Enter an event type.` : !parsed && t`The payload must be valid JSON.`
  const form = useSubmit(async () => {
    const body = { webhookId: webhook.id, type: type.trim(), payload: parsed?.value }
    const { id } = await api.call('POST /webhooks/test', { body })
    toast.done(t`Test event sent`, {
      label: t`View event`,
      onClick: () => void navigate(`/webhooks/${webhook.id}?event=${webhook.id}.${id}`),
    })
    onClose()
    await refresh('GET /webhooks/:id/events', 'GET /webhooks/:id/deliveries', 'GET /webhooks/events')
  })
  const destination = destinationOf(webhook)
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Send test event`}
      description={
        destination === undefined
          ? t`The event is recorded like a received one. This webhook has no destination URL to forward it to.`
          : t`The event is recorded and forwarded to ${destination} like a received one.`
      }
      form={form}
      action={t`Send test event`}
      disabledReason={problem}
    >
      <TextField
        label={t`Event type`}
        field="type"
        list={listId}
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        value={type}
        onChange={({ target }) => setType(target.value)}
      />
      <datalist id={listId}>
        {known.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </datalist>
      <TextArea
        className={styles['payload']}
        label={t`Payload`}
        field="payload"
        hint={<Trans>JSON. The event has the type above, whatever the payload says.</Trans>}
        error={parsed ? undefined : t`The payload must be valid JSON.`}
        rows={10}
        spellCheck={false}
        value={payload}
        onChange={({ target }) => setWritten(target.value)}
      />
    </FormDialog>
  )
}
