import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Message } from '@atrium/client'
import { ArrowDown, LoaderCircle } from 'lucide-react'
import { memo, useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { useStableCallback } from '../../stable-values.ts'
import { changeMessageDraft, sendMessageDraft, useMessageDraft } from '../../message-drafts.ts'
import { useIdentity } from '../../session.tsx'
import { Avatar } from '../../ui/data/avatar.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CopyButton } from '../../ui/forms/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useStickToBottom } from '../../ui/data/stick-to-bottom.ts'
import { toast } from '../../ui/toast.tsx'
import { readyIds, useAttachments } from './attachments.ts'
import { Composer } from './composer.tsx'
import styles from './conversation.module.css'
import { useDraftKey } from './draft-key.ts'
import { Parts } from './message-parts.tsx'
import type { Decide } from './approval.tsx'
import message from './message.module.css'
import { storedParts, textOf } from './parts.ts'
import { SendError } from './send-error.tsx'
import { TurnFooter } from './turn-footer.tsx'
import { sendMessage, useConversation } from './use-conversation.ts'
import type { Exchange } from './use-conversation.ts'

const UserMessage = memo(({ of, isMine }: { of: Message; isMine: boolean }) => {
  const parts = storedParts(of)
  const text = textOf(parts)
  return (
    <div className={message['userMessage']}>
      {!isMine && (
        <span className={message['faint']}>
          {of.author.name} <RelativeTime at={of.createdAt} />
        </span>
      )}
      {text !== '' && <div className={message['bubble']}>{text}</div>}
      <Parts parts={parts.filter(({ kind }) => kind !== 'text')} />
    </div>
  )
})

const Working = ({ children }: { children: ReactNode }) => (
  <p className={message['working']} role="status">
    <LoaderCircle className={message['turning']} aria-hidden="true" />
    {children}
  </p>
)

interface ReplyProps {
  exchange: Exchange
  agentName: string
  isLast: boolean
  reconnecting: boolean
  decide: Decide
  onReceipt: (turnId: string) => void
  onSend: (text: string, fileIds?: string[]) => void
}

const ReplyOf = ({ exchange, agentName, isLast, reconnecting, decide, onReceipt, onSend }: ReplyProps) => {
  const { reply, turnId, messages } = exchange
  if (!reply) return null
  const { parts, isLive, message: stored } = reply
  const name = stored?.author.name ?? agentName
  const last = parts.at(-1)
  const isQuiet = last === undefined || last.kind === 'tool' || !('isOpen' in last && last.isOpen)
  const text = textOf(parts)
  const sentParts = messages.flatMap((one) => storedParts(one))
  const retry = (): void =>
    onSend(
      textOf(sentParts),
      sentParts.flatMap((part) => (part.kind === 'file' ? [part.fileId] : [])),
    )
  return (
    <article className={message['message']} aria-label={t`Response from ${name}`} aria-busy={isLive || undefined}>
      <Avatar name={name} square />
      <div className={message['author']}>
        {name}
        {stored && <RelativeTime at={stored.createdAt} />}
      </div>
      <div className={message['body']}>
        <Parts parts={parts} turnId={turnId} decide={decide} />
        {isLive && reconnecting && (
          <Working>
            <Trans>Reconnecting</Trans>
          </Working>
        )}
        {isLive && !reconnecting && isQuiet && <Working>{last?.kind === 'tool' ? t`Working` : t`Thinking`}</Working>}
        {!isLive && (
          <div className={message['footer']}>
            <TurnFooter
              turnId={turnId}
              isLast={isLast}
              hasErrorPart={parts.some(({ kind }) => kind === 'error')}
              onReceipt={() => onReceipt(turnId)}
              onContinue={() => onSend(t`Continue`)}
              onRetry={retry}
            />
            {text !== '' && <CopyButton text={text} label={t`Copy response`} />}
          </div>
        )}
      </div>
    </article>
  )
}

const isSameReply = (a: ReplyProps, b: ReplyProps): boolean =>
  a.exchange.reply?.parts === b.exchange.reply?.parts &&
  a.exchange.reply?.isLive === b.exchange.reply?.isLive &&
  a.exchange.reply?.message === b.exchange.reply?.message &&
  a.isLast === b.isLast &&
  a.reconnecting === b.reconnecting &&
  a.agentName === b.agentName

/** Memoized because every token renders the conversation. Functions are not compared, so they must be stable. */
const Reply = memo(ReplyOf, isSameReply)

interface Sending {
  text: string
  names: string[]
}

const useSending = (sessionId: string, stick: () => void) => {
  const draftKey = useDraftKey(sessionId)
  const { text } = useMessageDraft(draftKey)
  const attachments = useAttachments(draftKey)
  const [sending, setSending] = useState<Sending>()
  const [error, setError] = useState<unknown>()
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  const setText = (next: string): void => changeMessageDraft(draftKey, (now) => ({ ...now, text: next }))
  const track = (message: Sending, work: Promise<void>): void => {
    setError(undefined)
    setSending(message)
    stick()
    work
      .catch((failure: unknown) => {
        if (isShown.current) setError(failure)
        else toast.failed(t`The message could not be sent`, failure)
      })
      .finally(() => setSending(undefined))
  }
  const send = (words: string, fileIds: string[]): Promise<void> =>
    sendMessage(sessionId, { text: words, ...(fileIds.length > 0 && { fileIds }) })
  const sendTyped = (): void =>
    track(
      { text: text.trim(), names: attachments.items.map(({ name }) => name) },
      sendMessageDraft(draftKey, (draft) => send(draft.text.trim(), readyIds(draft.attachments))),
    )
  const resend = (words: string, fileIds: string[]): void => track({ text: words, names: [] }, send(words, fileIds))
  return { text, setText, attachments, sending, error, sendTyped, resend }
}

const Bottom = ({
  outgoing,
  agentName,
  isWorking,
  onStop,
  onEnd,
  isAtEnd,
}: {
  outgoing: ReturnType<typeof useSending>
  agentName: string
  isWorking: boolean
  onStop: () => Promise<void>
  onEnd: () => void
  isAtEnd: boolean
}) => {
  const { can } = useIdentity()
  const [stopping, setStopping] = useState(false)
  if (stopping && !isWorking) setStopping(false)
  const stop = (): void => {
    setStopping(true)
    onStop().catch((error: unknown) => {
      setStopping(false)
      toast.failed(t`The response could not be stopped`, error)
    })
  }
  return (
    <div className={styles['bottom']}>
      {!isAtEnd && (
        <Button small className={styles['toEnd']} icon={<ArrowDown />} onClick={onEnd}>
          <Trans>Scroll to latest</Trans>
        </Button>
      )}
      <SendError error={outgoing.error} />
      <Composer
        label={isWorking ? t`Queue a message for ${agentName}` : t`Message ${agentName}`}
        text={outgoing.text}
        onText={outgoing.setText}
        attachments={outgoing.attachments}
        onSend={outgoing.sendTyped}
        onStop={isWorking ? stop : undefined}
        stopping={stopping}
        disabledReason={!can('sessions:write') && t`You do not have permission to write in conversations.`}
        focusOnMount
      />
    </div>
  )
}

export const Conversation = ({
  sessionId,
  agentName,
  onReceipt,
}: {
  sessionId: string
  agentName: string
  onReceipt: (turnId: string) => void
}) => {
  const { session: signedIn } = useIdentity()
  const conversation = useConversation(sessionId)
  const { session, messages, exchanges, live, isWorking } = conversation
  const { scroller, isAtEnd, onScroll, stick } = useStickToBottom()
  const outgoing = useSending(sessionId, stick)
  const decide = useStableCallback(conversation.decide)
  const openReceipt = useStableCallback(onReceipt)
  const resend = useStableCallback((text: string, fileIds: string[] = []) => outgoing.resend(text, fileIds))
  const error = session.error ?? messages.error
  if (error && (!session.data || !messages.data))
    return <ErrorState error={error} onRetry={() => void Promise.all([session.refetch(), messages.refetch()])} />
  return (
    <>
      <div className={styles['scroller']} ref={scroller} onScroll={onScroll} tabIndex={0}>
        <div className={styles['messages']} role="log" aria-label={t`Conversation`}>
          {!messages.data && <Skeleton rows={5} />}
          {messages.hasNextPage && (
            <Button
              small
              className={styles['earlier']}
              busy={messages.isFetchingNextPage}
              onClick={() => void messages.fetchNextPage()}
            >
              <Trans>Load earlier messages</Trans>
            </Button>
          )}
          {live !== undefined && live.leftOutExchanges > 0 && (
            <Notice tone="info">
              <Trans>
                The conversation exceeds the context window. The model no longer receives the first{' '}
                {live.leftOutExchanges} exchanges.
              </Trans>
            </Notice>
          )}
          {exchanges.map((exchange, index) => (
            <div key={exchange.turnId} className={styles['exchange']}>
              {exchange.messages.map((one) => (
                <UserMessage key={one.id} of={one} isMine={one.author.id === signedIn.user.id} />
              ))}
              <Reply
                exchange={exchange}
                agentName={agentName}
                isLast={index === exchanges.length - 1}
                reconnecting={live?.reconnecting === true}
                decide={decide}
                onReceipt={openReceipt}
                onSend={resend}
              />
              {isWorking && !exchange.reply && (
                <p className={styles['queued']}>
                  <Trans>Queued until the response above is complete</Trans>
                </p>
              )}
            </div>
          ))}
          {live?.error !== undefined && <Notice error={live.error} />}
          {messages.data?.length === 0 && !outgoing.sending && (
            <EmptyState compact title={t`No messages yet`}>
              <Trans>Send a message to start.</Trans>
            </EmptyState>
          )}
          {outgoing.sending && (
            <div className={classNames(message['userMessage'], message['sending'])}>
              <div className={message['bubble']}>{outgoing.sending.text || outgoing.sending.names.join(', ')}</div>
            </div>
          )}
        </div>
      </div>
      <Bottom
        outgoing={outgoing}
        agentName={agentName}
        isWorking={isWorking}
        onStop={conversation.stop}
        onEnd={stick}
        isAtEnd={isAtEnd}
      />
    </>
  )
}
