import type { Delivery, Webhook } from 'atrium-sdk'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { Link, useOutletContext } from 'react-router'
import { api, keyOf, refresh } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { useOpened } from './events.tsx'
import { LiveList, useLiveList } from './live-list.tsx'
import { forwardsTo } from './webhook-list.tsx'
import styles from './webhooks.module.css'
import { writeReason } from './webhooks.tsx'

const answerOf = ({ response, error }: Delivery): string => {
  if (response) return String(response.status)
  return error ?? '–'
}

const columnsFor = (hrefOf: (id: string) => string): Column<Delivery>[] => [
  {
    title: 'Event',
    cell: ({ id, eventType }) => (
      <Link to={hrefOf(id)} className={styles['type']}>
        {eventType}
      </Link>
    ),
  },
  { title: 'State', tight: true, cell: ({ status }) => <DeliveryState of={status} /> },
  { title: 'Answer', cell: answerOf },
  { title: 'Attempts', align: 'end', optional: true, cell: ({ attempts }) => attempts.length },
  {
    title: 'Next attempt',
    optional: true,
    tight: true,
    cell: ({ nextAttemptAt, status }) =>
      nextAttemptAt === null || status === 'held' ? '–' : formatDateTime(nextAttemptAt),
  },
  { title: 'Created', tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
]

/** A time as a field for local times takes it. */
const localTime = (date: Date): string => {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

const RecoverDialog = ({ webhookId, onClose }: { webhookId: string; onClose: () => void }) => {
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - 86_400_000)))
  const problem = Number.isNaN(Date.parse(since)) && 'Choose a day and a time first.'
  const form = useSubmit(async () => {
    const body = { since: new Date(since).toISOString() }
    const { queued } = await api.call('POST /webhooks/:id/recover', { params: { id: webhookId }, body })
    await refresh('GET /webhooks/:id/deliveries')
    toast.done(queued === 0 ? 'Nothing since then has failed' : `${queued} are attempted once more`)
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Attempt failed deliveries once more"
      description="After the address that they go to was away for a while."
      form={form}
      action="Attempt them"
      disabledReason={problem}
    >
      <TextField
        label="Created since"
        type="datetime-local"
        value={since}
        onChange={({ target }) => setSince(target.value)}
      />
    </FormDialog>
  )
}

const None = ({ webhook }: { webhook: Webhook }) =>
  forwardsTo(webhook) === undefined ? (
    <EmptyState
      compact
      icon={<Send />}
      title="This webhook forwards nowhere"
      action={<ButtonLink to={`/webhooks/${webhook.id}/settings`}>Set an address</ButtonLink>}
    >
      Its events are recorded only. With an address they are sent on, and each attempt is listed here.
    </EmptyState>
  ) : (
    <EmptyState compact icon={<Send />} title="No deliveries yet">
      Every event that is recorded becomes one delivery to <code>{webhook.url}</code>.
    </EmptyState>
  )

export const Deliveries = () => {
  const webhook = useOutletContext<Webhook>()
  const { can } = useIdentity()
  const opened = useOpened('delivery')
  const [recovering, setRecovering] = useState(false)
  const deliveries = useLiveList([...keyOf('GET /webhooks/:id/deliveries'), webhook.id], (query, signal) =>
    api.call('GET /webhooks/:id/deliveries', { params: { id: webhook.id }, query, signal }),
  )
  return (
    <LiveList
      list={deliveries}
      label="Deliveries"
      columns={columnsFor(opened.hrefOf)}
      onOpen={({ id }) => opened.open(id)}
      empty={<None webhook={webhook} />}
      actions={
        <Button small disabledReason={writeReason(can('webhooks:write'))} onClick={() => setRecovering(true)}>
          Attempt failed ones
        </Button>
      }
    >
      {opened.value !== undefined && (
        <DeliveryDialog webhookId={webhook.id} deliveryId={opened.value} onClose={() => opened.open(undefined)} />
      )}
      {recovering && <RecoverDialog webhookId={webhook.id} onClose={() => setRecovering(false)} />}
    </LiveList>
  )
}
