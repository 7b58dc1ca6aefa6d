import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Agent } from '@atrium/client'
import { ExternalLink, FlaskConical, Plus } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { changeMessageDraft, messageDraft, sendMessageDraft, useMessageDraft } from '../../message-drafts.ts'
import { withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { readyIds, useAttachments } from '../chat/attachments.ts'
import { Composer } from '../chat/composer.tsx'
import { Conversation } from '../chat/conversation.tsx'
import { useDraftKey } from '../chat/draft-key.ts'
import { Receipt } from '../chat/receipt.tsx'
import { SendError } from '../chat/send-error.tsx'
import { startConversation } from '../chat/start-conversation.ts'
import { sendMessage } from '../chat/use-conversation.ts'
import styles from './test-chat.module.css'

const sendTest = async (agent: Agent, draftKey: string, sessionId: string | undefined): Promise<string> => {
  if (sessionId === undefined) return startConversation({ agentId: agent.id, draftKey, isTest: true })
  await sendMessageDraft(draftKey, ({ text, attachments }) => {
    const fileIds = readyIds(attachments)
    return sendMessage(sessionId, { text: text.trim(), ...(fileIds.length > 0 && { fileIds }) })
  })
  return sessionId
}

const NewTest = ({ agent, draftKey, onStart }: { agent: Agent; draftKey: string; onStart: (id: string) => void }) => {
  const { can } = useIdentity()
  const { text } = useMessageDraft(draftKey)
  const attachments = useAttachments(draftKey)
  const { busy, error, submit } = useSubmit(async () => onStart(await sendTest(agent, draftKey, undefined)))
  const reason =
    (busy && t`Sending…`) ||
    (!can('sessions:write') && t`You do not have permission to write in conversations.`) ||
    (!agent.isActive && t`${agent.name} is inactive. Activate it in its settings.`)
  return (
    <>
      <div className={styles['empty']}>
        <EmptyState compact icon={<FlaskConical />} title={t`Test ${agent.name}`}>
          <Trans>
            Tests are conversations of the agent: they use its tools and models, and cost the same. Chat lists them only
            with the source “Test”.
          </Trans>
        </EmptyState>
      </div>
      <div className={styles['bottom']}>
        <SendError error={error} />
        <Composer
          label={t`Message ${agent.name}`}
          text={text}
          onText={(next) => changeMessageDraft(draftKey, (now) => ({ ...now, text: next }))}
          attachments={attachments}
          onSend={submit}
          disabledReason={reason}
        />
      </div>
    </>
  )
}

/** Says that the agent responds with its saved settings, and saves the others. */
const Unsaved = ({
  disabledReason,
  onSave,
}: {
  disabledReason: string | undefined
  onSave: () => Promise<unknown>
}) => {
  const { busy, error, submit } = useSubmit(onSave)
  return (
    <div className={styles['unsaved']} role="status">
      <p>
        <Trans>The agent does not use your unsaved changes yet.</Trans>
      </p>
      <Button small busy={busy} disabledReason={disabledReason} onClick={submit}>
        <Trans>Save and test</Trans>
      </Button>
      <Notice error={error} />
    </div>
  )
}

/** A conversation with the saved agent, beside its form. `?test=` is its session, `?receipt=` the turn of the open receipt. */
export const TestChat = ({
  agent,
  isDirty,
  disabledReason,
  onSave,
}: {
  agent: Agent
  isDirty: boolean
  /** Why the changes cannot be saved. */
  disabledReason: string | undefined
  onSave: () => Promise<void>
}) => {
  const [params, setParams] = useSearchParams()
  const sessionId = params.get('test') ?? undefined
  const receipt = params.get('receipt')
  const draftKey = useDraftKey(sessionId ?? `test-${agent.id}`)
  const setParam = (patch: Record<string, string | undefined>): void =>
    setParams((now) => withParams(now, patch), { replace: true })
  const saveAndTest = async (): Promise<void> => {
    await onSave()
    const { text, attachments } = messageDraft(draftKey)
    if (text.trim() === '' && attachments.length === 0) return
    setParam({ test: await sendTest(agent, draftKey, sessionId) })
  }
  return (
    <section className={styles['panel']} aria-label={t`Test chat`}>
      <header className={styles['head']}>
        <h2>
          <Trans>Test chat</Trans>
        </h2>
        {sessionId !== undefined && (
          <>
            <Button small icon={<Plus />} onClick={() => setParam({ test: undefined, receipt: undefined })}>
              <Trans>New test</Trans>
            </Button>
            <ButtonLink small icon={<ExternalLink />} to={`/chat/${sessionId}`}>
              <Trans>Open in Chat</Trans>
            </ButtonLink>
          </>
        )}
      </header>
      {isDirty && <Unsaved disabledReason={disabledReason} onSave={saveAndTest} />}
      {sessionId === undefined ? (
        <NewTest agent={agent} draftKey={draftKey} onStart={(id) => setParam({ test: id })} />
      ) : (
        <Conversation
          key={sessionId}
          sessionId={sessionId}
          agentName={agent.name}
          onReceipt={(turnId) => setParam({ receipt: turnId })}
        />
      )}
      {receipt !== null && <Receipt turnId={receipt} onClose={() => setParam({ receipt: undefined })} />}
    </section>
  )
}
