import type { Agent } from 'atrium-sdk'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { api, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Avatar } from '../../ui/data/avatar.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { useAttachments } from './attachments.ts'
import styles from './chat.module.css'
import { Composer } from './composer.tsx'
import { SendError } from './send-error.tsx'
import { say } from './use-conversation.ts'

const reasonFor = (agent: Agent | undefined, mayWrite: boolean): string | false => {
  if (!mayWrite) return 'Your role may read conversations only.'
  if (!agent) return 'There is no agent to write to.'
  return !agent.isActive && `${agent.name} is switched off. Its page can switch it on.`
}

/** Before the first word: whom one writes to, and the first word. The session begins with it. */
export const NewChat = ({
  agents,
  agent,
  onAgent,
}: {
  agents: readonly Agent[]
  agent: Agent | undefined
  onAgent: (slug: string) => void
}) => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const attachments = useAttachments()
  const { busy, error, submit } = useSubmit(async () => {
    if (!agent) return
    const session = await api.call('POST /sessions', { body: { agentId: agent.id }, idempotencyKey: true })
    try {
      const fileIds = attachments.readyIds()
      await say(session.id, { text: text.trim(), ...(fileIds.length > 0 && { fileIds }) })
    } catch (failure) {
      // An empty conversation is nothing that one looks for later.
      await api.call('DELETE /sessions/:id', { params: { id: session.id } }).catch(() => undefined)
      throw failure
    }
    void refresh('GET /sessions')
    await navigate(`/chat/${session.id}`, { replace: true })
  })
  const reason = busy ? 'It is on its way.' : reasonFor(agent, can('sessions:write'))
  return (
    <div className={styles['new']}>
      {agent && <Avatar name={agent.name} size="l" square />}
      <h1>{agent ? agent.name : 'New conversation'}</h1>
      {agent?.description != null && <p>{agent.description}</p>}
      <div className={styles['newForm']}>
        <SendError error={error} />
        <Composer
          key={agent?.id}
          label={`Write to ${agent?.name ?? 'an agent'}`}
          text={text}
          onText={setText}
          attachments={attachments}
          onSend={submit}
          disabledReason={reason}
          takesFocus
          extra={
            agents.length > 1 && (
              <SelectField
                label="Agent to write to"
                hideLabel
                className={styles['pick']}
                value={agent?.slug ?? ''}
                onChange={({ target }) => onAgent(target.value)}
              >
                {agents.map(({ slug, name }) => (
                  <option key={slug} value={slug}>
                    {name}
                  </option>
                ))}
              </SelectField>
            )
          }
        />
        <p className={styles['hint']}>
          Enter sends, Shift and Enter begins a new line. Drop or paste files to attach them.
        </p>
      </div>
    </div>
  )
}
