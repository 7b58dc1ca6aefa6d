import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Message, TurnCreate } from '@atrium/client'
import { ArrowDown, LoaderCircle } from 'lucide-react'
import { memo, useEffect, useRef, useState } from 'react'
import type { ReactNode, RefObject } from 'react'
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
import { FilePreviews } from './message/file-preview.tsx'
import { Place, useFoundMessage } from './message/found-message.tsx'
import { MessageBoundary } from './message/message-boundary.tsx'
import { UserMessage } from './message/user-message.tsx'
import { hasEffects, storedParts, textOf } from './parts.ts'
import { SendError } from './send-error.tsx'
import { TurnFooter } from './turn-footer.tsx'
import { sendMessage, useConversation } from './use-conversation.ts'
import type { Exchange } from './use-conversation.ts'

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
  onContinue: () => void
  onRetry: (of: readonly Message[]) => void
}

const ReplyOf = ({ exchange, agentName, isLast, reconnecting, decide, onReceipt, onContinue, onRetry }: ReplyProps) => {
  const { reply, turnId, messages } = exchange
  if (!reply) return null
  const { parts, isLive, message: stored } = reply
  const name = stored?.author.name ?? agentName
  const last = parts.at(-1)
  const isQuiet = last === undefined || last.kind === 'tool' || !('isOpen' in last && last.isOpen)
  const text = textOf(parts)
  return (
    <article className={message['message']} aria-label={t`Response from ${name}`} aria-busy={isLive || undefined}>
      <Avatar name={name} square />
      <div className={message['author']}>
        {name}
        {stored && <RelativeTime at={stored.createdAt} />}
      </div>
      <div className={message['body']}>
        <MessageBoundary text={text}>
          <Parts parts={parts} turnId={turnId} decide={decide} />
        </MessageBoundary>
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
              onContinue={onContinue}
              onRetry={() => onRetry(messages)}
              hasEffects={hasEffects(parts)}
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
  /** The turn whose message is replaced. */
  replaces?: string
}

const fileIdsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) => storedParts(one)).flatMap((part) => (part.kind === 'file' ? [part.fileId] : []))

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
  const bodyOf = (words: string, fileIds: string[]): TurnCreate => ({
    ...((words !== '' || fileIds.length === 0) && { text: words }),
    ...(fileIds.length > 0 && { fileIds }),
  })
  const sendTyped = (): void =>
    track(
      { text: text.trim(), names: attachments.items.map(({ name }) => name) },
      sendMessageDraft(draftKey, (draft) =>
        sendMessage(sessionId, bodyOf(draft.text.trim(), readyIds(draft.attachments))),
      ),
    )
  const sendNew = (words: string, fileIds: string[] = []): void =>
    track({ text: words, names: [] }, sendMessage(sessionId, bodyOf(words, fileIds)))
  /** Sends a message in place of another one; without a text, the same again. */
  const replace = (of: Message, words?: string): void => {
    const again = words === undefined
    const body = again ? {} : bodyOf(words, fileIdsOf([of]))
    const shown = again ? textOf(storedParts(of)) : words
    track({ text: shown, names: [], replaces: of.turnId }, sendMessage(sessionId, { ...body, replaces: of.id }))
  }
  return { text, setText, attachments, sending, error, sendTyped, sendNew, replace }
}

const Bottom = ({
  outgoing,
  agentName,
  isWorking,
  onStop,
  onEnd,
  isAtEnd,
  onEditLast,
  field,
}: {
  outgoing: ReturnType<typeof useSending>
  agentName: string
  isWorking: boolean
  onStop: () => Promise<void>
  onEnd: () => void
  isAtEnd: boolean
  onEditLast: (() => void) | undefined
  field: RefObject<HTMLTextAreaElement | null>
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
        onEditLast={onEditLast}
        field={field}
        focusOnMount
      />
    </div>
  )
}

/** Which message is edited, and who may edit which. */
const useEditing = (
  { session, exchanges, isWorking }: ReturnType<typeof useConversation>,
  replace: (of: Message, text: string) => void,
) => {
  const { session: signedIn, can } = useIdentity()
  const [editedId, setEditedId] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const isMine = ({ author }: Message): boolean => author.id === signedIn.user.id
  const isOpen = session.data?.metadata['relationship'] === 'user'
  const disabledReason =
    (!can('sessions:write') && t`You do not have permission to write in conversations.`) ||
    (isWorking && t`Wait until the response is complete.`)
  const edit = useStableCallback((messageId: string | undefined) => {
    setEditedId(messageId)
    if (messageId === undefined) field.current?.focus()
  })
  const save = useStableCallback((of: Message, text: string) => {
    edit(undefined)
    replace(of, text)
  })
  const last = exchanges.flatMap(({ messages }) => messages).findLast(isMine)
  const editLast = isOpen && last && disabledReason === false ? () => edit(last.id) : undefined
  return { editedId, edit, save, editLast, isMine, isOpen, disabledReason, field }
}

const Messages = ({
  conversation: { exchanges, live, isWorking, decide: decideCall },
  foundId,
  editing,
  outgoing,
  agentName,
  onReceipt,
}: {
  conversation: ReturnType<typeof useConversation>
  /** The message that is marked. */
  foundId: string | undefined
  editing: ReturnType<typeof useEditing>
  outgoing: ReturnType<typeof useSending>
  agentName: string
  onReceipt: (turnId: string) => void
}) => {
  const decide = useStableCallback(decideCall)
  const openReceipt = useStableCallback(onReceipt)
  // The buttons stay until the message is stored. A second click would start, and charge, another turn.
  const goOn = useStableCallback(() => {
    if (!outgoing.sending) outgoing.sendNew(t`Continue`)
  })
  const retry = useStableCallback((messages: readonly Message[]) => {
    if (outgoing.sending) return
    const [first] = messages
    if (first && editing.isOpen && editing.isMine(first)) outgoing.replace(first)
    else outgoing.sendNew(textOf(messages.flatMap((one) => storedParts(one))), fileIdsOf(messages))
  })
  // What follows a message that is being replaced is not part of the conversation any more.
  const replacedAt = exchanges.findIndex(({ turnId }) => turnId === outgoing.sending?.replaces)
  const shown = replacedAt < 0 ? exchanges : exchanges.slice(0, replacedAt)
  const lastEffect = shown.findLastIndex(({ reply }) => reply !== undefined && hasEffects(reply.parts))
  return shown.map((exchange, index) => (
    <div key={exchange.turnId} className={styles['exchange']}>
      {exchange.before.map((one) => (
        <Place key={one.id} id={one.id} foundId={foundId}>
          <UserMessage
            of={one}
            isMine={one.role === 'user' && editing.isMine(one)}
            hasVersions={editing.isOpen}
            disabledReason={editing.disabledReason}
            hasEffects={lastEffect >= index}
            isEdited={editing.editedId === one.id}
            onEdit={editing.edit}
            onSave={editing.save}
          />
        </Place>
      ))}
      {exchange.reply && (
        <Place id={exchange.reply.message?.id} foundId={foundId}>
          <Reply
            exchange={exchange}
            agentName={agentName}
            isLast={index === exchanges.length - 1}
            reconnecting={live?.reconnecting === true}
            decide={decide}
            onReceipt={openReceipt}
            onContinue={goOn}
            onRetry={retry}
          />
        </Place>
      )}
      {isWorking && !exchange.reply && (
        <p className={styles['queued']}>
          <Trans>Queued until the response above is complete</Trans>
        </p>
      )}
    </div>
  ))
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
  const conversation = useConversation(sessionId)
  const { session, messages, live, isWorking } = conversation
  const { scroller, isAtEnd, onScroll, stick, show } = useStickToBottom()
  const foundId = useFoundMessage(conversation, show)
  const outgoing = useSending(sessionId, stick)
  const editing = useEditing(conversation, outgoing.replace)
  const error = session.error ?? messages.error
  if (error && (!session.data || !messages.data))
    return <ErrorState error={error} onRetry={() => void Promise.all([session.refetch(), messages.refetch()])} />
  return (
    <FilePreviews>
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
          <Messages
            conversation={conversation}
            foundId={foundId}
            editing={editing}
            outgoing={outgoing}
            agentName={agentName}
            onReceipt={onReceipt}
          />
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
        onEditLast={editing.editLast}
        field={editing.field}
      />
    </FilePreviews>
  )
}
