import { Brain, Check, ChevronRight, CircleHelp, FileText, LoaderCircle, X } from 'lucide-react'
import { Link } from 'react-router'
import { formatBytes } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import { useSubmit } from '../../ui/use-submit.ts'
import { Markdown } from './markdown.tsx'
import styles from './message.module.css'
import { briefOf } from './parts.ts'
import type { ToolPart, ToolState, ViewPart } from './parts.ts'

const stateWords: Record<ToolState, string> = {
  preparing: 'being prepared',
  running: 'running',
  asking: 'waits for you',
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

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')

export type Decide = (approvalId: string, approved: boolean) => Promise<void>

const Approval = ({ part, approvalId, decide }: { part: ToolPart; approvalId: string; decide: Decide }) => {
  const { can } = useIdentity()
  const off = !can('sessions:write') && 'Your role may read conversations only.'
  const approve = useSubmit(() => decide(approvalId, true))
  const deny = useSubmit(() => decide(approvalId, false))
  return (
    <div className={styles['approval']}>
      <p>
        <strong>{part.name}</strong>: {part.reason}
      </p>
      <CodeBlock text={asText(part.input)} />
      <Notice error={approve.error ?? deny.error} />
      <div className={styles['approvalActions']}>
        <Button small busy={deny.busy} disabledReason={off} onClick={deny.submit}>
          Do not run it
        </Button>
        <Button small variant="primary" busy={approve.busy} disabledReason={off} onClick={approve.submit}>
          Run it
        </Button>
      </div>
    </div>
  )
}

/** What an agent does: one line while it runs, everything about it when opened. */
const ToolCall = ({ part, decide }: { part: ToolPart; decide?: Decide | undefined }) => (
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
    {part.state === 'asking' && part.approvalId !== undefined && decide && (
      <Approval part={part} approvalId={part.approvalId} decide={decide} />
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

const Part = ({ part, decide }: { part: ViewPart; decide?: Decide | undefined }) => {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? null : <Markdown text={part.text} />
    case 'reasoning':
      return <Reasoning text={part.text} isOpen={part.isOpen} />
    case 'tool':
      return <ToolCall part={part} decide={decide} />
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

export const Parts = ({ parts, decide }: { parts: readonly ViewPart[]; decide?: Decide | undefined }) =>
  parts.map((part) => <Part key={`${part.kind}-${part.id}`} part={part} decide={decide} />)
