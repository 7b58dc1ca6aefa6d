import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Message } from '@atrium/client'
import { Pencil } from 'lucide-react'
import { memo, useEffect, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { Button, IconButton } from '../../../ui/forms/button.tsx'
import { isComposing } from '../../../ui/forms/composing.ts'
import { CopyButton } from '../../../ui/forms/copy-button.tsx'
import { PlainText, useLongText } from '../../../ui/text/long-text.tsx'
import { Parts } from '../message-parts.tsx'
import styles from '../message.module.css'
import { storedParts, textOf } from '../parts.ts'
import { messageMarkdown } from './conversation-markdown.ts'
import { VersionSwitch } from './version-switch.tsx'

const maxText = 100_000

export interface UserMessageProps {
  of: Message
  isMine: boolean
  /** Whether the conversation allows versions: not between agents, and not in connected chats. */
  hasVersions: boolean
  /** Why the message cannot be edited, and no other version shown. */
  disabledReason: string | false
  /** Whether tools that may have changed something ran since. */
  hasEffects: boolean
  isEdited: boolean
  onEdit: (messageId: string | undefined) => void
  onSave: (of: Message, text: string) => void
}

const Editor = ({ of, hasEffects, onEdit, onSave }: UserMessageProps) => {
  const parts = storedParts(of)
  const [text, setText] = useState(() => textOf(parts))
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const area = field.current
    area?.focus()
    area?.setSelectionRange(area.value.length, area.value.length)
  }, [])
  const hasFiles = parts.some(({ kind }) => kind === 'file')
  const tooLong = [...text].length > maxText && t`The message must be at most 100,000 characters.`
  const reason = text.trim() === '' && !hasFiles ? t`Enter a message.` : tooLong
  const save = (): void => {
    if (reason === false) onSave(of, text.trim())
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event)) return
    if (event.key === 'Escape') onEdit(undefined)
    else if (event.key === 'Enter' && !event.shiftKey) save()
    else return
    event.preventDefault()
  }
  return (
    <div className={styles['editor']}>
      <textarea
        ref={field}
        aria-label={t`Edit message`}
        rows={1}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <Parts parts={parts.filter(({ kind }) => kind === 'file')} />
      <p className={styles['faint']}>
        <Trans>The conversation continues from here. The earlier version stays available.</Trans>{' '}
        {hasEffects && <Trans>What tools have changed is not undone, and they may change it again.</Trans>}
      </p>
      <div className={styles['editorActions']}>
        <Button small onClick={() => onEdit(undefined)}>
          <Trans>Cancel</Trans>
        </Button>
        <Button small variant="primary" disabledReason={reason} onClick={save}>
          <Trans>Send</Trans>
        </Button>
      </div>
    </div>
  )
}

const Bubble = ({ text }: { text: string }) => {
  const { shown, more } = useLongText(text)
  return (
    <>
      <div className={styles['bubble']}>
        <PlainText text={shown} />
      </div>
      {more}
    </>
  )
}

const UserMessageOf = (props: UserMessageProps) => {
  const { of, isMine, hasVersions, disabledReason, isEdited, onEdit } = props
  if (isEdited) return <Editor {...props} />
  const parts = storedParts(of)
  const text = textOf(parts)
  return (
    <div className={styles['userMessage']}>
      {!isMine && (
        <span className={styles['faint']}>
          {of.author.name} <RelativeTime at={of.createdAt} />
        </span>
      )}
      {text !== '' && <Bubble text={text} />}
      <Parts parts={parts.filter(({ kind }) => kind !== 'text')} />
      <div className={styles['actions']} data-shown={of.versions ? true : undefined}>
        <span className={styles['quiet']}>
          {text !== '' && <CopyButton text={messageMarkdown(of)} label={t`Copy message`} />}
          {isMine && hasVersions && (
            <IconButton
              small
              label={t`Edit message`}
              icon={<Pencil />}
              disabledReason={disabledReason}
              onClick={() => onEdit(of.id)}
            />
          )}
        </span>
        {of.versions && <VersionSwitch of={of} versions={of.versions} disabledReason={disabledReason} />}
      </div>
    </div>
  )
}

const isSame = (a: UserMessageProps, b: UserMessageProps): boolean =>
  a.of === b.of &&
  a.isMine === b.isMine &&
  a.hasVersions === b.hasVersions &&
  a.disabledReason === b.disabledReason &&
  a.hasEffects === b.hasEffects &&
  a.isEdited === b.isEdited

/** A person's message, or the field in which it is edited. Memoized because every token renders the conversation. */
export const UserMessage = memo(UserMessageOf, isSame)
