import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Brain, Check, ChevronRight, CircleHelp, FileText, LoaderCircle, X } from 'lucide-react'
import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { formatBytes } from '../../format.ts'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Approval } from './approval.tsx'
import type { Decide } from './approval.tsx'
import { Markdown } from './markdown/markdown.tsx'
import { FileLink, Thumbnail } from './message/file-preview.tsx'
import styles from './message.module.css'
import { asText, summaryOf } from './parts.ts'
import type { FilePart, ToolPart, ToolState, ViewPart } from './parts.ts'

const stateWords: Record<ToolState, Text> = {
  preparing: msg`preparing`,
  running: msg`running`,
  'needs-approval': msg`needs approval`,
  done: msg`done`,
  failed: msg`failed`,
  denied: msg`denied`,
}

const StateIcon = ({ state }: { state: ToolState }) => {
  if (state === 'done') return <Check />
  if (state === 'failed' || state === 'denied') return <X />
  if (state === 'needs-approval') return <CircleHelp />
  return <LoaderCircle className={styles['turning']} />
}

/** A tool call as one line that expands to arguments and result. */
const ToolCall = ({
  part,
  turnId,
  decide,
}: {
  part: ToolPart
  turnId?: string | undefined
  decide?: Decide | undefined
}) => (
  <div className={styles['toolFrame']}>
    <details className={styles['tool']} data-state={part.state}>
      <summary>
        <span className={styles['toolIcon']} aria-hidden="true">
          <StateIcon state={part.state} />
        </span>
        <code>{part.name}</code>
        <span className={styles['summary']}>{summaryOf(part.input)}</span>
        <span className="visually-hidden">{textOf(stateWords[part.state])}</span>
        <ChevronRight className={styles['chevron']} aria-hidden="true" />
      </summary>
      <div className={styles['toolBody']}>
        <h4>
          <Trans>Arguments</Trans>
        </h4>
        <CodeBlock text={asText(part.input)} />
        {part.output !== undefined && (
          <>
            <h4>{part.state === 'failed' ? t`Error` : t`Result`}</h4>
            <CodeBlock text={asText(part.output)} />
          </>
        )}
      </div>
    </details>
    {part.state === 'needs-approval' && part.approvalId !== undefined && decide && turnId !== undefined && (
      <Approval part={part} approvalId={part.approvalId} turnId={turnId} decide={decide} />
    )}
  </div>
)

const Reasoning = ({ text, isOpen }: { text: string; isOpen: boolean }) => (
  <details className={styles['tool']} data-state={isOpen ? 'running' : 'done'}>
    <summary>
      <span className={styles['toolIcon']} aria-hidden="true">
        {isOpen ? <LoaderCircle className={styles['turning']} /> : <Brain />}
      </span>
      <span>{isOpen ? t`Thinking` : t`Reasoning`}</span>
      <span className={styles['summary']} />
      <ChevronRight className={styles['chevron']} aria-hidden="true" />
    </summary>
    <div className={styles['toolBody']}>
      <Markdown text={text} />
    </div>
  </details>
)

interface Deciding {
  /** The turn that waits for approvals, and the function that decides them. */
  turnId?: string | undefined
  decide?: Decide | undefined
}

const pictureTypes = new Set(['image/png', 'image/jpeg', 'image/jpg', 'image/gif', 'image/webp'])

/** Larger pictures would cost more to load than they show. */
const maxThumbnailBytes = 10_485_760

/** A picture as a thumbnail, until it is deleted; every other file as an icon. */
const FileIcon = ({ part: { fileId, mimeType, sizeBytes } }: { part: FilePart }) => {
  const icon = <FileText aria-hidden="true" />
  if (!pictureTypes.has(mimeType) || sizeBytes > maxThumbnailBytes) return icon
  return <Thumbnail fileId={fileId} className={styles['thumbnail']} otherwise={icon} />
}

const Part = ({ part, turnId, decide }: { part: ViewPart } & Deciding) => {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? null : <Markdown text={part.text} />
    case 'reasoning':
      return <Reasoning text={part.text} isOpen={part.isOpen} />
    case 'tool':
      return <ToolCall part={part} turnId={turnId} decide={decide} />
    case 'file':
      return (
        <FileLink fileId={part.fileId} name={part.name} className={styles['file']}>
          <FileIcon part={part} />
          <span>{part.name}</span>
          <span className={styles['faint']}>{formatBytes(part.sizeBytes)}</span>
        </FileLink>
      )
    default:
      return <Notice tone="bad">{apiText(part.message)}</Notice>
  }
}

export const Parts = ({ parts, turnId, decide }: { parts: readonly ViewPart[] } & Deciding) =>
  parts.map((part) => <Part key={`${part.kind}-${part.id}`} part={part} turnId={turnId} decide={decide} />)
