import { t } from '@lingui/core/macro'
import type { EventEndpointWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../../api.ts'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { bodyOf, emptyEndpoint, fieldErrorsOf, problemOf } from './draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { EndpointSecretDialog } from './secret-dialog.tsx'

export const CreateEndpointDialog = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(emptyEndpoint)
  const [created, setCreated] = useState<EventEndpointWithSecret>()
  const form = useSubmit(async () => {
    setCreated(await api.call('POST /event-endpoints', { body: bodyOf(draft) }))
    await refresh('GET /event-endpoints')
  })
  if (created)
    return (
      <EndpointSecretDialog
        endpoint={created}
        title={t`Endpoint “${created.name}” created`}
        onClose={() => void navigate(`/events/endpoints/${created.id}`, { replace: true })}
      />
    )
  const isOfField = Object.keys(fieldErrorsOf(form.error)).length > 0
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Create event endpoint`}
      description={t`Events that you may read are sent to its URL as they happen.`}
      form={{ ...form, error: isOfField ? undefined : form.error }}
      action={t`Create endpoint`}
      disabledReason={problemOf(draft)}
    >
      <EndpointFields
        draft={draft}
        change={(patch) => setDraft((known) => ({ ...known, ...patch }))}
        error={form.error}
      />
    </FormDialog>
  )
}
