import { t } from '@lingui/core/macro'
import { ArrowUp, LoaderCircle, Paperclip, Square, TriangleAlert, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { DragEvent, KeyboardEvent, ReactNode, RefObject } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { IconButton } from '../../ui/forms/button.tsx'
import { isComposing } from '../../ui/forms/composing.ts'
import type { Attachments } from './attachments.ts'
import styles from './composer.module.css'
import { FileLink, isPictureName, Thumbnail } from './message/file-preview.tsx'

export interface ComposerProps {
  label: string
  text: string
  onText: (text: string) => void
  attachments: Attachments
  onSend: () => void
  /** Why sending is disabled. */
  disabledReason?: string | false
  /** Shows a stop button; set while a turn runs. */
  onStop?: (() => void) | undefined
  stopping?: boolean
  /** Further controls beside the attach button. */
  extra?: ReactNode
  /** Edits the last message of the person: the Up key in an empty field. */
  onEditLast?: (() => void) | undefined
  /** The field, for a caller that moves the focus to it. */
  field?: RefObject<HTMLTextAreaElement | null>
  /** Focuses the field on devices with a mouse. On a phone the keyboard would cover the conversation. */
  focusOnMount?: boolean
}

const maxText = 100_000

const ChipIcon = ({ fileId, name }: { fileId: string; name: string }) => {
  const icon = <Paperclip aria-hidden="true" />
  if (!isPictureName(name)) return icon
  return <Thumbnail fileId={fileId} className={styles['chipPicture']} otherwise={icon} />
}

const Chips = ({ attachments }: { attachments: Attachments }) => (
  <ul className={styles['chips']} aria-label={t`Attachments`}>
    {attachments.items.map(({ key, name, state, fileId, error }) => (
      <li key={key} className={classNames(styles['chip'], state === 'failed' && styles['failed'])}>
        {state === 'sending' && <LoaderCircle className={styles['turning']} aria-label={t`Uploading`} />}
        {state === 'failed' && <TriangleAlert aria-hidden="true" />}
        {fileId === undefined ? (
          <span>
            {name}
            {error !== undefined && <em> {error}</em>}
          </span>
        ) : (
          <FileLink fileId={fileId} name={name} className={styles['chipLink']}>
            <ChipIcon fileId={fileId} name={name} />
            <span>{name}</span>
          </FileLink>
        )}
        <button type="button" aria-label={t`Remove ${name}`} onClick={() => attachments.remove(key)}>
          <X aria-hidden="true" />
        </button>
      </li>
    ))}
  </ul>
)

const useFileDrop = (attachments: Attachments) => {
  const [over, setOver] = useState(false)
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files')
  return {
    over,
    props: {
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(false)
        attachments.add([...event.dataTransfer.files])
      },
    },
  }
}

const reasonOf = ({ text, attachments, disabledReason }: ComposerProps): string | false => {
  if (typeof disabledReason === 'string') return disabledReason
  if (attachments.items.some(({ state }) => state === 'sending')) return t`Wait until the upload is complete.`
  if (attachments.items.some(({ state }) => state === 'failed')) return t`Remove the file that failed to upload.`
  if ([...text].length > maxText) return t`The message must be at most 100,000 characters.`
  return text.trim() === '' && attachments.items.length === 0 && t`Enter a message.`
}

/** The message field: Enter sends, Shift+Enter adds a line, files are attached by button, drop or paste. */
export const Composer = (props: ComposerProps) => {
  const { label, text, onText, attachments, onSend, onStop, stopping, extra, focusOnMount, onEditLast } = props
  const ownField = useRef<HTMLTextAreaElement>(null)
  const area = props.field ?? ownField
  const picker = useRef<HTMLInputElement>(null)
  const drop = useFileDrop(attachments)
  const reason = reasonOf(props)
  useEffect(() => {
    if (focusOnMount === true && matchMedia('(pointer: fine)').matches) area.current?.focus()
  }, [area, focusOnMount])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event)) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      if (reason === false) onSend()
    }
    if (event.key === 'Escape' && onStop) onStop()
    if (event.key === 'ArrowUp' && text === '' && attachments.items.length === 0 && onEditLast) {
      event.preventDefault()
      onEditLast()
    }
  }
  return (
    <div className={classNames(styles['composer'], drop.over && styles['over'])} {...drop.props}>
      {attachments.items.length > 0 && <Chips attachments={attachments} />}
      <textarea
        ref={area}
        className={styles['area']}
        rows={1}
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={({ target }) => onText(target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = [...event.clipboardData.files]
          if (files.length === 0) return
          event.preventDefault()
          attachments.add(files)
        }}
      />
      <div className={styles['bar']}>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ target }) => {
            attachments.add([...(target.files ?? [])])
            target.value = ''
          }}
        />
        <IconButton label={t`Attach files`} icon={<Paperclip />} onClick={() => picker.current?.click()} />
        {extra}
        <span className={styles['gap']} />
        {onStop && (
          <IconButton
            label={t`Stop`}
            shortcut="Esc"
            variant="secondary"
            icon={<Square />}
            busy={stopping}
            onClick={onStop}
          />
        )}
        <IconButton
          label={t`Send`}
          shortcut="Enter"
          variant="primary"
          icon={<ArrowUp />}
          disabledReason={reason}
          onClick={onSend}
        />
      </div>
    </div>
  )
}
