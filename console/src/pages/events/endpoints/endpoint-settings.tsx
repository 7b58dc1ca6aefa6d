import type { EventEndpoint, EventEndpointWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, refresh, usePages } from '../../../api.ts'
import { useDraft } from '../../../draft.ts'
import { useIdentity } from '../../../session.tsx'
import { DescriptionList } from '../../../ui/data/description-list.tsx'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../../ui/forms/form-dialog.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { Notice } from '../../../ui/notice.tsx'
import { Section } from '../../../ui/page.tsx'
import { toast } from '../../../ui/toast.tsx'
import { draftOf, fieldErrorsOf, filterProblem, patchOf, problemOf } from './draft.ts'
import { EndpointFields, orderings } from './endpoint-fields.tsx'
import styles from './endpoints.module.css'
import { EndpointSecretDialog } from './secret-dialog.tsx'
import { TypeList } from './type-list.tsx'

const refreshEndpoint = (): Promise<unknown> => refresh('GET /event-endpoints', 'GET /event-endpoints/:id')

const statusHints: Record<EventEndpoint['status'], string> = {
  active: 'Events are sent as they happen.',
  paused: 'Events are kept and sent when the endpoint is active again.',
  disabled: 'New events are neither sent nor kept for this endpoint.',
}

const settingsOf = (endpoint: EventEndpoint) => ({ ...draftOf(endpoint), status: endpoint.status })

const General = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const { me } = useIdentity()
  const { draft, change, reset } = useDraft(endpoint, settingsOf)
  const { status, ...fields } = draft
  const isValid = filterProblem(fields.filter) === undefined
  const patch = { ...(isValid && patchOf(fields, endpoint)), ...(status !== endpoint.status && { status }) }
  const takesOver =
    endpoint.owner.userId !== me.user.id && Object.keys(patch).some((field) => field !== 'name' && field !== 'status')
  const problem = problemOf(fields) || (Object.keys(patch).length === 0 && 'No changes to save.')
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    reset(settingsOf(await api.call('PATCH /event-endpoints/:id', { params: { id: endpoint.id }, body: patch })))
    await refreshEndpoint()
    toast.done('Saved')
  })
  return (
    <Section title="General">
      <Form className={styles['fields']} onSubmit={submit}>
        <EndpointFields draft={fields} change={change} error={error} />
        <SelectField
          label="Status"
          hint={statusHints[status]}
          value={status}
          onChange={({ target }) => change({ status: target.value as EventEndpoint['status'] })}
        >
          <option value="active">Active</option>
          <option value="paused">Paused</option>
          <option value="disabled">Disabled</option>
        </SelectField>
        {takesOver && (
          <Notice tone="info">
            With these changes you become the owner of the endpoint: only events that you may read are sent.
          </Notice>
        )}
        {Object.keys(fieldErrorsOf(error)).length === 0 && <Notice error={error} />}
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            Save changes
          </Button>
        </div>
      </Form>
    </Section>
  )
}

const Secret = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const [asking, setAsking] = useState(false)
  const [rotated, setRotated] = useState<EventEndpointWithSecret>()
  const form = useSubmit(async () => {
    setRotated(await api.call('POST /event-endpoints/:id/rotate', { params: { id: endpoint.id } }))
    setAsking(false)
    await refreshEndpoint()
  })
  return (
    <Section
      title="Signing secret"
      description="The secret is stored encrypted and cannot be shown again. Rotate it to get a new one."
    >
      <div>
        <Button onClick={() => setAsking(true)}>Rotate secret</Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Rotate signing secret?"
        description="Attempts from now on are signed with the new secret. The receiver rejects them until you update the secret there."
        form={form}
        action="Rotate secret"
      />
      {rotated && (
        <EndpointSecretDialog endpoint={rotated} title="New signing secret" onClose={() => setRotated(undefined)} />
      )}
    </Section>
  )
}

const Delete = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    await api.call('DELETE /event-endpoints/:id', { params: { id: endpoint.id } })
    await navigate('/events/endpoints', { replace: true })
    await refresh('GET /event-endpoints')
    toast.done(`Endpoint “${endpoint.name}” deleted`)
  })
  return (
    <Section title="Delete endpoint">
      <div>
        <Button variant="danger" onClick={() => setAsking(true)}>
          Delete endpoint
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete “${endpoint.name}”?`}
        description="No further events are sent, and its deliveries are deleted. This cannot be undone."
        form={form}
        action="Delete endpoint"
      />
    </Section>
  )
}

const ReadOnly = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const workspaces = usePages('GET /workspaces').query.data ?? []
  const nameOf = (id: string): string => workspaces.find((workspace) => workspace.id === id)?.name ?? id
  return (
    <Section title="General">
      <DescriptionList
        items={[
          ['Event types', <TypeList key="types" types={endpoint.types} most={endpoint.types.length} />],
          ['Workspaces', endpoint.workspaceIds?.map(nameOf).join(', ') ?? 'All workspaces'],
          ['Order', orderings[endpoint.ordering].label],
        ]}
      />
      {endpoint.filter !== null && (
        <div className={styles['stack']}>
          <h3>Filter</h3>
          <JsonView value={endpoint.filter} label="Filter" />
        </div>
      )}
      {endpoint.transform !== null && (
        <div className={styles['stack']}>
          <h3>Transform</h3>
          <JsonView value={endpoint.transform} label="Transform" />
        </div>
      )}
    </Section>
  )
}

export const EndpointSettings = () => {
  const endpoint = useOutletContext<EventEndpoint>()
  const { can } = useIdentity()
  if (!can('webhooks:write')) return <ReadOnly endpoint={endpoint} />
  return (
    <>
      <General endpoint={endpoint} />
      <Secret endpoint={endpoint} />
      <Delete endpoint={endpoint} />
    </>
  )
}
