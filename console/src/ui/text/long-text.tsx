import { Trans } from '@lingui/react/macro'
import { memo, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../forms/button.tsx'
import styles from './long-text.module.css'

const maxAtFirst = 50_000

const partLength = 10_000
const partLines = 400

/** `index`, or one less between the two halves of a character. */
const characterStart = (text: string, index: number): number =>
  /[\uDC00-\uDFFF]/.test(text.charAt(index)) ? index - 1 : index

/** Parts of a text, which end at the end of a line where the lines are not too long. */
const partsOf = (text: string): string[] => {
  if (text.length <= partLength && text.split('\n', partLines + 1).length <= partLines) return [text]
  const parts: string[] = []
  for (let start = 0; start < text.length;) {
    let end = start
    for (let lines = 0; lines < partLines && end < text.length && end - start < partLength; lines += 1) {
      const found = text.indexOf('\n', end)
      const lineEnd = found < 0 ? text.length : found + 1
      end = lineEnd - start <= 2 * partLength ? lineEnd : characterStart(text, start + 2 * partLength)
    }
    parts.push(text.slice(start, end))
    start = end
  }
  return parts
}

const Part = memo(({ text }: { text: string }) => <span className={styles['part']}>{text}</span>)

/** Text as it is, with its line breaks. The browser lays out only the visible parts of a long one. */
export const PlainText = ({ text }: { text: string }) => {
  const parts = partsOf(text)
  return (
    <span className={styles['text']}>
      {parts.length === 1 ? text : parts.map((part, index) => <Part key={index} text={part} />)}
    </span>
  )
}

interface LongText {
  shown: string
  /** A button that shows the rest. */
  more: ReactNode
  /** All of a long text is shown. */
  isExpanded: boolean
}

/** The first 50,000 characters of a text until the person asks for all of it. */
export const useLongText = (text: string): LongText => {
  const [wantsAll, setWantsAll] = useState(false)
  const isLong = text.length > maxAtFirst
  if (!isLong || wantsAll) return { shown: text, more: null, isExpanded: isLong }
  const more = (
    <Button small className={styles['more']} onClick={() => setWantsAll(true)}>
      <Trans>Show all</Trans>
    </Button>
  )
  return { shown: text.slice(0, characterStart(text, maxAtFirst)), more, isExpanded: false }
}
