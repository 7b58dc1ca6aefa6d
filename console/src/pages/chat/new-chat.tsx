import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Agent } from '@atrium/client'
import { useNavigate } from 'react-router'
import { changeMessageDraft, useMessageDraft } from '../../message-drafts.ts'
import { useIdentity } from '../../session.tsx'
import { Avatar } from '../../ui/data/avatar.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { useAttachments } from './attachments.ts'
import styles from './chat.module.css'
import { Composer } from './composer.tsx'
import { useDraftKey } from './draft-key.ts'
import { FilePreviews } from './message/file-preview.tsx'
import { SendError } from './send-error.tsx'
import { startConversation } from './start-conversation.ts'

const reasonFor = (agent: Agent | undefined, mayWrite: boolean): string | false => {
  if (!mayWrite) return t`You do not have permission to write in conversations.`
  if (!agent) return t`No agent available.`
  return !agent.isActive && t`${agent.name} is inactive. Activate it in its settings.`
}

/** Chooses an agent and sends the first message, which creates the session. */
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
  const draftKey = useDraftKey(undefined)
  const { text } = useMessageDraft(draftKey)
  const attachments = useAttachments(draftKey)
  const { busy, error, submit } = useSubmit(async () => {
    if (!agent) return
    const sessionId = await startConversation({ agentId: agent.id, draftKey })
    await navigate(`/chat/${sessionId}`, { replace: true })
  })
  const reason = busy ? t`Sending…` : reasonFor(agent, can('sessions:write'))
  return (
    <div className={styles['new']}>
      {agent && <Avatar name={agent.name} size="l" square />}
      <h1>{agent ? agent.name : t`New conversation`}</h1>
      {agent?.description != null && <p>{agent.description}</p>}
      <div className={styles['newForm']}>
        <SendError error={error} />
        <FilePreviews>
          <Composer
            key={agent?.id}
            label={agent ? t`Message ${agent.name}` : t`Message an agent`}
            text={text}
            onText={(next) => changeMessageDraft(draftKey, (now) => ({ ...now, text: next }))}
            attachments={attachments}
            onSend={submit}
            disabledReason={reason}
            focusOnMount
            extra={
              agents.length > 1 && (
                <SelectField
                  label={t`Agent`}
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
        </FilePreviews>
        <p className={styles['hint']}>
          <Trans>Press Enter to send, Shift+Enter for a new line. Drop or paste files to attach them.</Trans>
        </p>
      </div>
    </div>
  )
}
