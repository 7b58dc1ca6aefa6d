import type { ReactNode } from 'react'
import { CopyButton } from '../forms/copy-button.tsx'
import { PlainText, useLongText } from '../text/long-text.tsx'
import { jsonText } from '../text/json-text.ts'
import styles from './json-view.module.css'

const tokens = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g

/** Longer text is shown without highlighting: it would block the page for seconds. */
const maxHighlighted = 50_000

const highlight = (text: string): ReactNode[] => {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [whole, string, colon, word] = match
    const kind =
      string === undefined ? (word === undefined ? 'number' : 'word') : colon === undefined ? 'string' : 'key'
    parts.push(text.slice(end, match.index))
    parts.push(
      <span key={match.index} className={styles[kind]}>
        {string ?? whole}
      </span>,
    )
    end = match.index + (string ?? whole).length
  }
  return [...parts, text.slice(end)]
}

/** Highlighted JSON with a copy button; strings are shown as they are. */
export const JsonView = ({ value, label }: { value: unknown; label: string }) => {
  const text = typeof value === 'string' ? value : jsonText(value)
  const { shown, more } = useLongText(text)
  return (
    <>
      <div className={styles['frame']}>
        <pre tabIndex={0} aria-label={label} role="group">
          {typeof value === 'string' || text.length > maxHighlighted ? <PlainText text={shown} /> : highlight(text)}
        </pre>
        <CopyButton text={text} />
      </div>
      {more}
    </>
  )
}
