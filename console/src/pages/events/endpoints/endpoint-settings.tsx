import { textOf } from '../../../i18n/text.ts'
import type { Text } from '../../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { EventEndpoint, EventEndpointWithSecret } from '@atrium/client'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, readAll, refresh } from '../../../api.ts'
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

const statusHints: Record<EventEndpoint['status'], Text> = {
  active: msg`Events are sent as they happen.`,
  paused: msg`Events are kept and sent when the endpoint is active again.`,
  disabled: msg`New events are neither sent nor kept for this endpoint.`,
}

const settingsOf = (endpoint: EventEndpoint) => ({ ...draftOf(endpoint), status: endpoint.status })

const General = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const { me } = useIdentity()
  const { draft, change, saved } = useDraft(endpoint, settingsOf)
  const { status, ...fields } = draft
  const isValid = filterProblem(fields.filter) === undefined
  const patch = { ...(isValid && patchOf(fields, endpoint)), ...(status !== endpoint.status && { status }) }
  const takesOver =
    endpoint.owner.userId !== me.user.id && Object.keys(patch).some((field) => field !== 'name' && field !== 'status')
  const problem = problemOf(fields) || (Object.keys(patch).length === 0 && t`No changes to save.`)
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    saved(settingsOf(await api.call('PATCH /event-endpoints/:id', { params: { id: endpoint.id }, body: patch })))
    await refreshEndpoint()
    toast.done(t`Saved`)
  })
  return (
    <Section title={t`General`}>
      <Form className={styles['fields']} onSubmit={submit}>
        <EndpointFields draft={fields} change={change} error={error} />
        <SelectField
          label={t`Status`}
          hint={textOf(statusHints[status])}
          value={status}
          onChange={({ target }) => change({ status: target.value as EventEndpoint['status'] })}
        >
          <option value="active">
            <Trans>Active</Trans>
          </option>
          <option value="paused">
            <Trans>Paused</Trans>
          </option>
          <option value="disabled">
            <Trans>Disabled</Trans>
          </option>
        </SelectField>
        {takesOver && (
          <Notice tone="info">
            <Trans>
              With these changes you become the owner of the endpoint: only events that you may read are sent.
            </Trans>
          </Notice>
        )}
        {Object.keys(fieldErrorsOf(error)).length === 0 && <Notice error={error} />}
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            <Trans>Save changes</Trans>
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
      title={t`Signing secret`}
      description={t`The secret is stored encrypted and cannot be shown again. Rotate it to get a new one.`}
    >
      <div>
        <Button onClick={() => setAsking(true)}>
          <Trans>Rotate secret</Trans>
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Rotate signing secret?`}
        description={t`Attempts from now on are signed with the new secret. The receiver rejects them until you update the secret there.`}
        form={form}
        action={t`Rotate secret`}
      />
      {rotated && (
        <EndpointSecretDialog endpoint={rotated} title={t`New signing secret`} onClose={() => setRotated(undefined)} />
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
    toast.done(t`Endpoint “${endpoint.name}” deleted`)
  })
  return (
    <Section title={t`Delete endpoint`}>
      <div>
        <Button variant="danger" onClick={() => setAsking(true)}>
          <Trans>Delete endpoint</Trans>
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Delete “${endpoint.name}”?`}
        description={t`No further events are sent, and its deliveries are deleted. This cannot be undone.`}
        form={form}
        action={t`Delete endpoint`}
      />
    </Section>
  )
}

const ReadOnly = ({ endpoint }: { endpoint: EventEndpoint }) => {
  const workspaces = useQuery(readAll('GET /workspaces')).data ?? []
  const nameOf = (id: string): string => workspaces.find((workspace) => workspace.id === id)?.name ?? id
  return (
    <Section title={t`General`}>
      <DescriptionList
        items={[
          [t`Event types`, <TypeList key="types" types={endpoint.types} most={endpoint.types.length} />],
          [t`Workspaces`, endpoint.workspaceIds?.map(nameOf).join(', ') ?? t`All workspaces`],
          [t`Order`, textOf(orderings[endpoint.ordering].label)],
        ]}
      />
      {endpoint.filter !== null && (
        <div className={styles['stack']}>
          <h3>
            <Trans>Filter</Trans>
          </h3>
          <JsonView value={endpoint.filter} label={t`Filter`} />
        </div>
      )}
      {endpoint.transform !== null && (
        <div className={styles['stack']}>
          <h3>
            <Trans>Transform</Trans>
          </h3>
          <JsonView value={endpoint.transform} label={t`Transform`} />
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
