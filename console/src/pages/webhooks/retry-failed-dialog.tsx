import { plural, t } from '@lingui/core/macro'
import { useState } from 'react'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { toast } from '../../ui/toast.tsx'

/** The value of a `datetime-local` input. */
const localTime = (date: Date): string => {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

export const RetryFailedDialog = ({
  recover,
  onClose,
}: {
  /** Retries the failed deliveries that were created since a time. */
  recover: (body: { since: string }) => Promise<{ queued: number }>
  onClose: () => void
}) => {
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - 86_400_000)))
  const problem = Number.isNaN(Date.parse(since)) && t`Select a date and time.`
  const form = useSubmit(async () => {
    const { queued } = await recover({ since: new Date(since).toISOString() })
    toast.done(
      queued === 0
        ? t`No failed deliveries in this period`
        : plural(queued, { one: 'Retrying # delivery', other: 'Retrying # deliveries' }),
    )
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Retry failed deliveries`}
      description={t`Use this after an outage of the destination URL.`}
      form={form}
      action={t`Retry deliveries`}
      disabledReason={problem}
    >
      <TextField
        label={t`Created after`}
        type="datetime-local"
        value={since}
        onChange={({ target }) => setSince(target.value)}
      />
    </FormDialog>
  )
}
