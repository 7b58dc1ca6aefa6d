import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Agent, AgentPatch } from '@atrium/client'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, isCode, refresh } from '../../api.ts'
import { useDraft } from '../../draft.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/field.tsx'
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
  const { draft, change, reset } = useDraft(agent, draftOf)
  const patch = patchOf(draft, agent)
  const isDirty = Object.keys(patch).length > 0
  const guard = useUnsavedChangesGuard(isDirty)
  const saving = useSubmit(async () => {
    const saved = await api.call('PATCH /agents/:id', { params: { id: agent.id }, body: patch })
    reset(draftOf(saved))
    await refresh('GET /agents', 'GET /agents/:id')
    toast.done(t`Saved`)
    if (saved.slug !== agent.slug) {
      guard.release()
      await navigate(`/agents/${saved.slug}/settings`, { replace: true })
    }
  })
  return { draft, change, discard: () => reset(draftOf(agent)), isDirty, guard, saving }
}

const adminsOnly = (): string =>
  t`Only owners and admins can edit the default agent, because everyone in the organization uses it.`

export const EditAgent = () => {
  const agent = useOutletContext<Agent>()
  const { can, me } = useIdentity()
  const isForAdmins = agent.isDefault && me.role !== 'owner' && me.role !== 'admin'
  const mayWrite = can('agents:write') && !isForAdmins
  const { draft, change, discard, isDirty, guard, saving } = useEditing(agent)
  const { busy, error, submit } = saving
  const slugTaken = isCode(error, 'CONFLICT') && error instanceof Error ? { slug: error.message } : {}
  const problems = { ...problemsOf(draft), ...slugTaken }
  const reason = mayWrite
    ? Object.values(problemsOf(draft))[0]
    : isForAdmins
      ? adminsOnly()
      : t`You do not have permission to edit agents.`
  const unchanged = !isDirty && t`No changes to save.`
  return (
    <>
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
      {guard.dialog}
    </>
  )
}
