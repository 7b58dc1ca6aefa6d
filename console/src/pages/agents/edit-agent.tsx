import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Agent, AgentPatch } from '@atrium/client'
import { useState } from 'react'
import { Link, useLocation, useNavigate, useOutletContext, useSearchParams } from 'react-router'
import { api, isCode, refresh } from '../../api.ts'
import { useDraft } from '../../draft.ts'
import { withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/field.tsx'
import { errorMessageOf } from '../../ui/error-message.ts'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { AgentFields } from './agent-form.tsx'
import styles from './agents.module.css'
import { bodyOf, draftOf, problemsOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { TestChat } from './test-chat.tsx'
import { useUnsavedChangesGuard } from './unsaved-changes.tsx'

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Contains only changed fields, so that a concurrent change of other fields is not overwritten. */
const patchOf = (draft: Draft, agent: Agent): AgentPatch => {
  const current: AgentPatch = { ...bodyOf(draft), slug: draft.slug.trim(), isActive: draft.isActive }
  const before: AgentPatch = { ...bodyOf(draftOf(agent)), slug: agent.slug, isActive: agent.isActive }
  const entries = Object.entries(current).filter(([key, value]) => !isSame(value, before[key as keyof AgentPatch]))
  return Object.fromEntries(entries)
}

const DeleteAgent = ({ agent, mayWrite }: { agent: Agent; mayWrite: boolean }) => {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    await api.call('DELETE /agents/:id', { params: { id: agent.id } })
    await navigate('/agents', { replace: true })
    await refresh('GET /agents')
    toast.done(t`${agent.name} deleted`)
  })
  const reason = agent.isDefault
    ? t`The default agent cannot be deleted.`
    : !mayWrite && t`You do not have permission to delete agents.`
  return (
    <Section title={t`Delete agent`} description={t`Its conversations are kept and can still be read.`}>
      <div>
        <Button variant="danger" disabledReason={reason} onClick={() => setAsking(true)}>
          <Trans>Delete agent</Trans>
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Delete ${agent.name}?`}
        description={t`The agent stops responding to people and other agents. This cannot be undone.`}
        form={form}
        action={t`Delete agent`}
      />
    </Section>
  )
}

const useEditing = (agent: Agent) => {
  const navigate = useNavigate()
  const { search } = useLocation()
  const { draft, change, reset, saved: keep } = useDraft(agent, draftOf)
  const patch = patchOf(draft, agent)
  const isDirty = Object.keys(patch).length > 0
  const guard = useUnsavedChangesGuard(isDirty)
  const save = async (): Promise<void> => {
    const saved = await api.call('PATCH /agents/:id', { params: { id: agent.id }, body: patch })
    keep(draftOf(saved))
    await refresh('GET /agents', 'GET /agents/:id')
    toast.done(t`Saved`)
    if (saved.slug !== agent.slug) {
      guard.release()
      await navigate({ pathname: `/agents/${saved.slug}/settings`, search }, { replace: true })
    }
  }
  const saving = useSubmit(save)
  return { draft, change, discard: () => reset(draftOf(agent)), isDirty, guard, save, saving }
}

const adminsOnly = (): string =>
  t`Only owners and admins can edit the default agent, because everyone in the organization uses it.`

/** Where there is no room for both beside each other, the form or the test chat is shown. */
const Views = ({ params, isTesting }: { params: URLSearchParams; isTesting: boolean }) => (
  <nav className={styles['views']} aria-label={t`View`}>
    <Link to={`?${withParams(params, { view: undefined })}`} replace aria-current={!isTesting && 'page'}>
      <Trans>Form</Trans>
    </Link>
    <Link to={`?${withParams(params, { view: 'test' })}`} replace aria-current={isTesting && 'page'}>
      <Trans>Test chat</Trans>
    </Link>
  </nav>
)

export const EditAgent = () => {
  const agent = useOutletContext<Agent>()
  const { can, me } = useIdentity()
  const isForAdmins = agent.isDefault && me.role !== 'owner' && me.role !== 'admin'
  const mayWrite = can('agents:write') && !isForAdmins
  const { draft, change, discard, isDirty, guard, save, saving } = useEditing(agent)
  const [params] = useSearchParams()
  const isTesting = params.get('view') === 'test'
  const { busy, error, submit } = saving
  const slugTaken = isCode(error, 'CONFLICT') ? { slug: errorMessageOf(error) } : {}
  const problems = { ...problemsOf(draft), ...slugTaken }
  const reason = mayWrite
    ? Object.values(problemsOf(draft))[0]
    : isForAdmins
      ? adminsOnly()
      : t`You do not have permission to edit agents.`
  const unchanged = !isDirty && t`No changes to save.`
  return (
    <div className={classNames(styles['split'], isTesting && styles['testing'])}>
      <Views params={params} isTesting={isTesting} />
      <Form
        className={styles['form']}
        error={error}
        onSubmit={() => {
          if (reason === undefined && isDirty) submit()
        }}
      >
        {isForAdmins && <Notice tone="info">{adminsOnly()}</Notice>}
        <fieldset className={styles['fields']} disabled={!mayWrite}>
          <AgentFields agent={agent} draft={draft} problems={problems} change={change} />
        </fieldset>
        <Section title={t`Status`}>
          <SwitchField
            label={t`Active`}
            hint={
              agent.isDefault
                ? t`The default agent is always active.`
                : t`Inactive agents stay listed but do not respond.`
            }
            checked={draft.isActive}
            disabled={agent.isDefault}
            onChange={({ target }) => change({ isActive: target.checked })}
          />
        </Section>
        <DeleteAgent agent={agent} mayWrite={mayWrite} />
        <div className={styles['save']}>
          <div>{error === undefined ? isDirty && t`You have unsaved changes.` : <FormError />}</div>
          <Button disabledReason={unchanged} onClick={discard}>
            <Trans>Discard changes</Trans>
          </Button>
          <Button variant="primary" type="submit" busy={busy} disabledReason={reason ?? unchanged}>
            <Trans>Save changes</Trans>
          </Button>
        </div>
      </Form>
      <aside className={styles['test']}>
        <TestChat agent={agent} isDirty={isDirty} disabledReason={reason} onSave={save} />
      </aside>
      {guard.dialog}
    </div>
  )
}
