import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { EventEndpoint } from '@atrium/client'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../../api.ts'
import { useIdentity } from '../../../session.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { areasOf, isReadable, useEventTypes } from '../areas.ts'
import { isSelected } from './type-patterns.ts'

/** Sends an event with example data, and opens its delivery. */
export const TestDialog = ({ endpoint, onClose }: { endpoint: EventEndpoint; onClose: () => void }) => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  const types = (useEventTypes().data?.items ?? []).filter((one) => isReadable(one, can))
  const [chosen, setChosen] = useState<string>()
  const type = chosen ?? types.find((one) => isSelected(endpoint.types, one.type))?.type ?? ''
  const form = useSubmit(async () => {
    const params = { id: endpoint.id }
    const { id } = await api.call('POST /event-endpoints/:id/test', { params, body: { type } })
    await refresh('GET /event-endpoints/:id/deliveries')
    onClose()
    await navigate(`/events/endpoints/${endpoint.id}?delivery=${id}`)
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Send test event`}
      description={t`Sends an event with example data and “isTest”: true. It does not appear in the log.`}
      form={form}
      action={t`Send test event`}
      disabledReason={type === '' && t`Select an event type.`}
    >
      <SelectField label={t`Event type`} value={type} onChange={({ target }) => setChosen(target.value)}>
        {type === '' && (
          <option value="">
            <Trans>Select a type</Trans>
          </option>
        )}
        {areasOf(types).map(({ name, types: own }) => (
          <optgroup key={name} label={name}>
            {own.map((one) => (
              <option key={one.type} value={one.type}>
                {one.type}
              </option>
            ))}
          </optgroup>
        ))}
      </SelectField>
    </FormDialog>
  )
}
