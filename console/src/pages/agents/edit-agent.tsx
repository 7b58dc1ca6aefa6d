import type { Agent, AgentPatch } from 'atrium-sdk'
import { useState } from 'react'
import { useNavigate, useOutletContext } from 'react-router'
import { api, isCode, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { AgentFields } from './agent-form.tsx'
import styles from './agents.module.css'
import { bodyOf, draftOf, problemsOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { useUnsavedChangesGuard } from './unsaved-changes.tsx'

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Only what was changed: what somebody else changes meanwhile stays. */
const patchOf = (draft: Draft, agent: Agent): AgentPatch => {
  const whole: AgentPatch = { ...bodyOf(draft), slug: draft.slug.trim(), isActive: draft.isActive }
  const before: AgentPatch = { ...bodyOf(draftOf(agent)), slug: agent.slug, isActive: agent.isActive }
  const entries = Object.entries(whole).filter(([key, value]) => !isSame(value, before[key as keyof AgentPatch]))
  return Object.fromEntries(entries)
}

const Danger = ({ agent, mayWrite }: { agent: Agent; mayWrite: boolean }) => {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    await api.call('DELETE /agents/:id', { params: { id: agent.id } })
    await navigate('/agents', { replace: true })
    await refresh('GET /agents')
    toast.done(`${agent.name} is deleted`)
  })
  const reason = agent.isDefault
    ? 'The default agent stays: every organisation has it.'
    : !mayWrite && 'Your role may look at agents, not delete them.'
  return (
    <Section title="Delete" description="Conversations with it stay and can be read.">
      <div>
        <Button variant="danger" disabledReason={reason} onClick={() => setAsking(true)}>
          Delete this agent
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${agent.name}?`}
        description="It answers nobody any more. This cannot be undone."
        form={form}
        action={`Delete ${agent.name}`}
      />
    </Section>
  )
}

const useEditing = (agent: Agent) => {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => draftOf(agent))
  const patch = patchOf(draft, agent)
  const isDirty = Object.keys(patch).length > 0
  const guard = useUnsavedChangesGuard(isDirty)
  const saving = useSubmit(async () => {
    const saved = await api.call('PATCH /agents/:id', { params: { id: agent.id }, body: patch })
    setDraft(draftOf(saved))
    await refresh('GET /agents', 'GET /agents/:id')
    toast.done('Saved')
    if (saved.slug !== agent.slug) {
      guard.release()
      await navigate(`/agents/${saved.slug}/settings`, { replace: true })
    }
  })
  return { draft, setDraft, isDirty, guard, saving }
}

const adminsOnly =
  'Only admins and owners can change the default agent, because it works for everybody in the organisation.'

export const EditAgent = () => {
  const agent = useOutletContext<Agent>()
  const { can, me } = useIdentity()
  const isForAdmins = agent.isDefault && me.role !== 'owner' && me.role !== 'admin'
  const mayWrite = can('agents:write') && !isForAdmins
  const { draft, setDraft, isDirty, guard, saving } = useEditing(agent)
  const { busy, error, submit } = saving
  const slugTaken = isCode(error, 'CONFLICT') && error instanceof Error ? { slug: error.message } : {}
  const problems = { ...problemsOf(draft), ...slugTaken }
  const reason = mayWrite
    ? Object.values(problemsOf(draft))[0]
    : isForAdmins
      ? adminsOnly
      : 'Your role may look at agents, not change them.'
  const unchanged = !isDirty && 'Nothing is changed.'
  return (
    <>
      <Form
        className={styles['form']}
        onSubmit={() => {
          if (reason === undefined && isDirty) submit()
        }}
      >
        {isForAdmins && <Notice tone="info">{adminsOnly}</Notice>}
        <fieldset className={styles['fields']} disabled={!mayWrite}>
          <AgentFields
            agent={agent}
            draft={draft}
            problems={problems}
            change={(change) => setDraft((known) => ({ ...known, ...change }))}
          />
        </fieldset>
        <Section title="Activity">
          <SwitchField
            label="Active"
            hint={
              agent.isDefault
                ? 'The default agent is always active.'
                : 'Switched off, it is listed and answers nobody, other agents neither.'
            }
            checked={draft.isActive}
            disabled={agent.isDefault}
            onChange={({ target }) => setDraft((known) => ({ ...known, isActive: target.checked }))}
          />
        </Section>
        <Danger agent={agent} mayWrite={mayWrite} />
        <div className={styles['save']}>
          <div>
            {error === undefined ? isDirty && 'There are changes that are not saved.' : <Notice error={error} />}
          </div>
          <Button disabledReason={unchanged} onClick={() => setDraft(draftOf(agent))}>
            Undo changes
          </Button>
          <Button variant="primary" type="submit" busy={busy} disabledReason={reason ?? unchanged}>
            Save
          </Button>
        </div>
      </Form>
      {guard.question}
    </>
  )
}
