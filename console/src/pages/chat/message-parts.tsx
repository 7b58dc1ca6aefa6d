import { Brain, Check, ChevronRight, CircleHelp, FileText, LoaderCircle, X } from 'lucide-react'
import { Link } from 'react-router'
import { formatBytes } from '../../format.ts'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Approval } from './approval.tsx'
import type { Decide } from './approval.tsx'
import { Markdown } from './markdown.tsx'
import styles from './message.module.css'
import { asText, briefOf } from './parts.ts'
import type { ToolPart, ToolState, ViewPart } from './parts.ts'

const stateWords: Record<ToolState, string> = {
  preparing: 'being prepared',
  running: 'running',
  asking: 'waiting for a decision',
  done: 'done',
  failed: 'failed',
  denied: 'not run again',
}

const StateIcon = ({ state }: { state: ToolState }) => {
  if (state === 'done') return <Check />
  if (state === 'failed' || state === 'denied') return <X />
  if (state === 'asking') return <CircleHelp />
  return <LoaderCircle className={styles['turning']} />
}

/** What an agent does: one line while it runs, everything about it when opened. */
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
        <span className={styles['brief']}>{briefOf(part.input)}</span>
        <span className="visually-hidden">{stateWords[part.state]}</span>
        <ChevronRight className={styles['chevron']} aria-hidden="true" />
      </summary>
      <div className={styles['toolBody']}>
        <h4>Asked with</h4>
        <CodeBlock text={asText(part.input)} />
        {part.output !== undefined && (
          <>
            <h4>{part.state === 'failed' ? 'Failed with' : 'Answered'}</h4>
            <CodeBlock text={asText(part.output)} />
          </>
        )}
      </div>
    </details>
    {part.state === 'asking' && part.approvalId !== undefined && decide && turnId !== undefined && (
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
      <span>{isOpen ? 'Thinking' : 'Thought'}</span>
      <span className={styles['brief']} />
      <ChevronRight className={styles['chevron']} aria-hidden="true" />
    </summary>
    <div className={styles['toolBody']}>
      <Markdown text={text} />
    </div>
  </details>
)

interface Deciding {
  /** The turn that waits, and how to answer its questions. */
  turnId?: string | undefined
  decide?: Decide | undefined
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
        <Link to={`/files?open=${part.fileId}`} className={styles['file']}>
          <FileText aria-hidden="true" />
          <span>{part.name}</span>
          <span className={styles['faint']}>{formatBytes(part.sizeBytes)}</span>
        </Link>
      )
    default:
      return <Notice tone="bad">{part.message}</Notice>
  }
}

export const Parts = ({ parts, turnId, decide }: { parts: readonly ViewPart[] } & Deciding) =>
  parts.map((part) => <Part key={`${part.kind}-${part.id}`} part={part} turnId={turnId} decide={decide} />)
