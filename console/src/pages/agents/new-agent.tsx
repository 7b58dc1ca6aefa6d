import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { AgentFields } from './agent-form.tsx'
import styles from './agents.module.css'
import { bodyOf, emptyDraft, problemsOf } from './draft.ts'
import { useUnsavedChangesGuard } from './unsaved-changes.tsx'

export const NewAgent = () => {
  useTitle(t`Create agent`)
  const { can } = useIdentity()
  const navigate = useNavigate()
  const [draft, setDraft] = useState({ ...emptyDraft, allowedTools: ['files.search', 'files.read'] })
  const [touched, setTouched] = useState(false)
  const problems = problemsOf(draft)
  const guard = useUnsavedChangesGuard(touched)
  const create = async (next: string): Promise<void> => {
    if (Object.keys(problems).length > 0) return
    const agent = await api.call('POST /agents', { body: bodyOf(draft) })
    guard.release()
    await refresh('GET /agents')
    await navigate(`/agents/${agent.slug}${next}`)
  }
  const creating = useSubmit(() => create(''))
  const testing = useSubmit(() => create('/settings?view=test'))
  const busy = creating.busy || testing.busy
  const reason = can('agents:write') ? Object.values(problems)[0] : t`You do not have permission to create agents.`
  return (
    <Page>
      <PageHeader title={t`Create agent`} />
      <Form
        className={styles['form']}
        error={creating.error ?? testing.error}
        onSubmit={() => {
          if (reason === undefined && !busy) creating.submit()
        }}
      >
        <AgentFields
          draft={draft}
          // No error for an empty name before the person has typed one.
          problems={touched ? { ...problems, ...(draft.name === '' && { name: undefined as never }) } : {}}
          change={(patch) => {
            setTouched(true)
            setDraft((known) => ({ ...known, ...patch }))
          }}
        />
        <div className={styles['save']}>
          <div>
            <FormError />
          </div>
          <ButtonLink to="/agents">
            <Trans>Cancel</Trans>
          </ButtonLink>
          <Button busy={testing.busy} disabledReason={reason} onClick={() => !busy && testing.submit()}>
            <Trans>Create and test</Trans>
          </Button>
          <Button variant="primary" type="submit" busy={creating.busy} disabledReason={reason}>
            <Trans>Create agent</Trans>
          </Button>
        </div>
      </Form>
      {guard.dialog}
    </Page>
  )
}
